// ruleid: js-html-sink
el.innerHTML = "<b>" + name + "</b>";
// ruleid: js-html-sink
document.write(location.hash);
// ruleid: js-html-sink
res.send(`<p>${req.query.name}</p>`);
// ok: js-html-sink
el.innerHTML = "";
// ok: js-html-sink
el.textContent = name;
// ok: js-html-sink
el.innerHTML = DOMPurify.sanitize(name);
