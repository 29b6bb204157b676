// ruleid: js-weak-cipher
crypto.createCipher("aes192", password);
// ruleid: js-weak-cipher
crypto.createCipheriv("des-ede3-cbc", key, iv);
// ruleid: js-weak-cipher
crypto.createCipheriv("aes-128-ecb", key, null);
// ok: js-weak-cipher
crypto.createCipheriv("aes-256-gcm", key, iv);
