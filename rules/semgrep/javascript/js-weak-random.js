// ruleid: js-weak-random
const token = Math.random().toString(36).slice(2);
// ruleid: js-weak-random
user.resetToken = "r" + Math.random();
// ok: js-weak-random
const jitter = Math.random() * 100;
// ok: js-weak-random
const sessionToken = crypto.randomUUID();
// ruleid: js-weak-random
function sessionToken() {
  return Math.random().toString(36).slice(2);
}
// ok: js-weak-random
function shuffle(list) {
  return list.sort(() => Math.random() - 0.5);
}
