// ruleid: js-weak-random
const token = Math.random().toString(36).slice(2);
// ruleid: js-weak-random
user.resetToken = "r" + Math.random();
// ok: js-weak-random
const jitter = Math.random() * 100;
// ok: js-weak-random
const sessionToken = crypto.randomUUID();
