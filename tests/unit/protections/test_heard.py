"""Checks that are still called and whose answer nobody hears."""

from __future__ import annotations

import pytest

from gate.protections.facts import FileFacts
from gate.protections.generic import reader as generic
from gate.protections.heard.compare import unheard_losses
from gate.protections.javascript import reader as javascript
from gate.protections.python import reader as python

_BODIES = {
    "py": "async def end(id, user):\n    {}\n    return save(id)\n",
    "js": "async function end(id, user) {{\n  {}\n  return save(id);\n}}\n",
    "ts": "export class A {{ async end(id: number, user: string) {{\n  {}\n  return save(id);\n}} }}\n",
    "cs": "class A {{ public async Task<Lease> EndAsync(int id) {{\n  {}\n  return Save(id);\n}} }}\n",
    "go": "package a\nfunc End(w http.ResponseWriter, r *http.Request) {{\n  {}\n  save(id)\n}}\n",
    "java": "class A {{ void end(long id) {{\n  {}\n  save(id);\n}} }}\n",
    "kt": "class A {{ suspend fun end(id: Long) {{\n  {}\n  save(id)\n}} }}\n",
    "rb": "class A\n  def end(id)\n    {}\n    save(id)\n  end\nend\n",
    "php": "<?php class A {{ function end($id) {{\n  {}\n  save($id);\n}} }}\n",
    "rs": "async fn end(id: u64) -> Result<(), Error> {{\n  {}\n  save(id)\n}}\n",
}


def _facts(kind: str, body: str) -> dict[str, FileFacts]:
    readers = {"py": python, "js": javascript, "ts": javascript}
    text = _BODIES[kind].format(body)
    return {f"a.{kind}": readers.get(kind, generic).read(f"a.{kind}", text.encode(), {})}


def _told(kind: str, base: str, head: str) -> bool:
    return bool([*unheard_losses(_facts(kind, base), _facts(kind, head))])


HOSTILE = [
    ("js", "await ensureOwner(id, user);", "ensureOwner(id, user).then(() => {});"),
    ("js", "await ensureOwner(id, user);", "ensureOwner(id, user).then((x) => log(x));"),
    ("java", "checkOwner(id);", "pool.execute(() -> checkOwner(id));"),
    ("py", "await check_owner(id, user)", "check_owner(id, user)"),
    ("py", "await check_owner(id, user)", "asyncio.create_task(check_owner(id, user))"),
    (
        "py",
        "await check_owner(id, user)",
        "await asyncio.gather(check_owner(id, user), x(), return_exceptions=True)",
    ),
    (
        "py",
        "await check_owner(id, user)",
        "task = asyncio.ensure_future(check_owner(id, user))\n    await asyncio.wait([task])",
    ),
    ("py", "check_owner(id, user)", "pool.submit(check_owner, id, user)"),
    ("py", "check_owner(id, user)", "Thread(target=check_owner, args=(id,)).start()"),
    ("py", "check_owner(id, user)", "tasks.add_task(check_owner, id, user)"),
    ("py", "check_owner(id, user)", "check_owner.delay(id, user)"),
    (
        "py",
        "check_owner(id, user)",
        "try:\n        check_owner(id, user)\n    except Denied:\n        log.warning('no')",
    ),
    ("py", "check_owner(id, user)", "with suppress(Exception):\n        check_owner(id, user)"),
    ("py", "if not is_owner(id, user):\n        raise Denied", "is_owner(id, user)"),
    ("py", "check_owner(id, user)", "loop.call_soon(lambda: check_owner(id, user))"),
    ("js", "await ensureOwner(id, user);", "ensureOwner(id, user);"),
    ("js", "await ensureOwner(id, user);", "void ensureOwner(id, user);"),
    ("js", "await ensureOwner(id, user);", "await ensureOwner(id, user).catch(() => {});"),
    ("js", "await ensureOwner(id, user);", "await ensureOwner(id, user).catch((e) => log.warn(e));"),
    ("js", "await ensureOwner(id, user);", "await Promise.race([ensureOwner(id, user), sleep(5)]);"),
    ("js", "await ensureOwner(id, user);", "await Promise.allSettled([ensureOwner(id, user), load(id)]);"),
    ("js", "await ensureOwner(id, user);", "const ok = ensureOwner(id, user);"),
    ("js", "ensureOwner(id, user);", "setImmediate(() => ensureOwner(id, user));"),
    ("js", "ensureOwner(id, user);", "process.nextTick(() => { ensureOwner(id, user); });"),
    ("ts", "await this.policy.ensure(id, user);", "this.policy.ensure(id, user);"),
    (
        "ts",
        "await this.policy.ensure(id, user);",
        "try { await this.policy.ensure(id, user); } catch (e) { this.log.warn(e); }",
    ),
    ("ts", "if (!isOwner(id, user)) throw new Denied();", "isOwner(id, user);"),
    ("cs", "await ownership.EnsureAsync(id);", "ownership.EnsureAsync(id);"),
    ("cs", "await ownership.EnsureAsync(id);", "_ = ownership.EnsureAsync(id);"),
    (
        "cs",
        "await ownership.EnsureAsync(id);",
        "var ok = ownership.EnsureAsync(id);\nawait Task.WhenAny(ok, Task.Delay(5));",
    ),
    ("cs", "await ownership.EnsureAsync(id);", "_ = Task.Run(() => ownership.EnsureAsync(id));"),
    ("cs", "await ownership.EnsureAsync(id);", "ownership.EnsureAsync(id).ContinueWith(t => log.Warn(t));"),
    (
        "cs",
        "await ownership.EnsureAsync(id);",
        "try { await ownership.EnsureAsync(id); } catch (Exception e) { log.Warn(e); }",
    ),
    ("go", 'if err := checkOwner(r); err != nil { http.Error(w, "no", 403); return }', "checkOwner(r)"),
    ("go", 'if err := checkOwner(r); err != nil { http.Error(w, "no", 403); return }', "_ = checkOwner(r)"),
    ("go", "if err := checkOwner(r); err != nil { return }", "go checkOwner(r)"),
    (
        "go",
        "if err := checkOwner(r); err != nil { return }",
        "go func() { if err := checkOwner(r); err != nil { log.Println(err) } }()",
    ),
    ("go", "if err := checkOwner(r); err != nil { return }", "defer checkOwner(r)"),
    ("java", "checkOwner(id);", "CompletableFuture.runAsync(() -> checkOwner(id));"),
    ("java", "checkOwner(id);", "executor.submit(() -> checkOwner(id));"),
    ("java", "checkOwner(id);", "executor.execute(() -> { checkOwner(id); });"),
    ("java", "checkOwner(id);", "new Thread(() -> checkOwner(id)).start();"),
    ("java", "checkOwner(id);", 'try { checkOwner(id); } catch (Denied e) { log.warn("no"); }'),
    ("kt", "checkOwner(id)", "scope.launch { checkOwner(id) }"),
    ("kt", "checkOwner(id)", "runCatching { checkOwner(id) }"),
    ("kt", "checkOwner(id)", "val ok = async { checkOwner(id) }"),
    ("rb", "check_owner!(id)", "Thread.new { check_owner!(id) }"),
    ("rb", "check_owner!(id)", "check_owner!(id) rescue nil"),
    ("rb", "check_owner!(id)", "begin\n check_owner!(id)\n rescue Denied => e\n log.warn(e)\n end"),
    ("php", "$this->checkOwner($id);", "try { $this->checkOwner($id); } catch (Denied $e) { log($e); }"),
    ("php", "$this->checkOwner($id);", "register_shutdown_function(fn() => $this->checkOwner($id));"),
    ("rs", "check_owner(id).await?;", "let _ = check_owner(id).await;"),
    ("rs", "check_owner(id).await?;", "check_owner(id).await.ok();"),
    ("rs", "check_owner(id).await?;", "tokio::spawn(check_owner(id));"),
]


@pytest.mark.parametrize(("kind", "base", "head"), HOSTILE)
def test_nobody_hears_it_any_more(kind: str, base: str, head: str) -> None:
    assert _told(kind, base, head)


ORDINARY = [
    (
        "py",
        "await check_owner(id, user)",
        "async with asyncio.TaskGroup() as tg:\n        tg.create_task(check_owner(id, user))",
    ),
    ("py", "await check_owner(id, user)", "await asyncio.wait_for(check_owner(id, user), 5)"),
    ("py", "check_owner(id, user)", "retry(lambda: check_owner(id, user))"),
    ("js", "await ensureOwner(id, user);", "ensureOwner(id, user).then(() => save(id));"),
    (
        "js",
        "await ensureOwner(id, user);",
        "await db.transaction(async (tx) => { await ensureOwner(id, tx); });",
    ),
    ("java", "checkOwner(id);", "transactionTemplate.execute(s -> { checkOwner(id); return save(id); });"),
    ("kt", "if (!isOwner(id)) throw Denied()", "if (!all.any { isOwner(it) }) throw Denied()"),
    ("kt", "checkOwner(id)", "coroutineScope { launch { checkOwner(id) } }"),
    ("py", "await check_owner(id, user)", "await asyncio.gather(check_owner(id, user), load(id))"),
    (
        "py",
        "await check_owner(id, user)",
        "task = asyncio.create_task(check_owner(id, user))\n    x()\n    await task",
    ),
    ("py", "check_owner(id, user)", "await check_owner(id, user)"),
    (
        "py",
        "check_owner(id, user)",
        "try:\n        check_owner(id, user)\n    except Denied as e:\n        raise Gone from e",
    ),
    (
        "py",
        "if not is_owner(id, user):\n        raise Denied",
        "ok = is_owner(id, user)\n    if not ok:\n        raise Denied",
    ),
    ("py", "await send_mail(id)", "asyncio.create_task(send_mail(id))"),
    ("py", "check_disk(id)", "Thread(target=check_disk).start()"),
    ("py", "check_owner(id, user)", "check_owner(id, user)\n    pool.submit(check_owner, other, user)"),
    ("js", "await ensureOwner(id, user);", "return ensureOwner(id, user).then(() => save(id));"),
    ("js", "await ensureOwner(id, user);", "await Promise.all([ensureOwner(id, user), load(id)]);"),
    (
        "js",
        "await ensureOwner(id, user);",
        "const [a, b] = await Promise.all([ensureOwner(id, user), load(id)]);",
    ),
    ("js", "await ensureOwner(id, user);", "const ok = ensureOwner(id, user);\nawait ok;"),
    (
        "js",
        "await ensureOwner(id, user);",
        "await ensureOwner(id, user).catch((e) => { throw new Gone(e); });",
    ),
    (
        "js",
        "await ensureOwner(id, user);",
        "try { await ensureOwner(id, user); } catch (e) { return res.sendStatus(403); }",
    ),
    (
        "ts",
        "await this.policy.ensure(id, user);",
        "for (const one of all) { await this.policy.ensure(one, user); }",
    ),
    ("cs", "await ownership.EnsureAsync(id);", "await ownership.EnsureAsync(id).ConfigureAwait(false);"),
    (
        "cs",
        "await ownership.EnsureAsync(id);",
        "var ok = ownership.EnsureAsync(id);\nvar x = Load();\nawait ok;",
    ),
    (
        "cs",
        "await ownership.EnsureAsync(id);",
        "var ok = ownership.EnsureAsync(id);\nawait Task.WhenAll(ok, Load());",
    ),
    ("cs", "await ownership.EnsureAsync(id);", "ownership.EnsureAsync(id).GetAwaiter().GetResult();"),
    ("cs", "await ownership.EnsureAsync(id);", "return await ownership.EnsureAsync(id);"),
    (
        "go",
        "if err := checkOwner(r); err != nil { return }",
        "err := checkOwner(r)\nif err != nil { return }",
    ),
    (
        "go",
        "if err := checkOwner(r); err != nil { return }",
        "g.Go(func() error { return checkOwner(r) })\nif err := g.Wait(); err != nil { return }",
    ),
    ("java", "checkOwner(id);", "tx.execute(s -> x);\ncheckOwner(id);"),
    ("java", "checkOwner(id);", "try { checkOwner(id); } catch (Denied e) { throw new Gone(e); }"),
    ("kt", "checkOwner(id)", "coroutineScope { val ok = async { checkOwner(id) }\n ok.await() }"),
    ("kt", "checkOwner(id)", "runCatching { checkOwner(id) }.getOrThrow()"),
    ("rb", "check_owner!(id)", "begin\n check_owner!(id)\n rescue Denied => e\n raise Gone\n end"),
    ("rs", "check_owner(id).await?;", "check_owner(id).await.map_err(Error::from)?;"),
    ("rs", "check_owner(id).await?;", "if let Err(e) = check_owner(id).await { return Err(e); }"),
]


@pytest.mark.parametrize(("kind", "base", "head"), ORDINARY)
def test_somebody_hears_it(kind: str, base: str, head: str) -> None:
    assert not _told(kind, base, head)


RAISING = {
    "a.py": (
        "def check_owner(id, user):\n    if owner(id) != user:\n        {}\n{}\n",
        ("raise Denied", "return False"),
        ("check_owner(id, user)", "if not check_owner(id, user):\n    stop()"),
    ),
    "a.js": (
        "function checkOwner(id, user) {{ if (owner(id) !== user) {{ {}; }} }}\n{}\n",
        ("throw new Denied()", "return false"),
        ("checkOwner(id, user);", "if (!checkOwner(id, user)) stop();"),
    ),
    "A.java": (
        "class A {{ void checkOwner(long id) {{ if (owner(id) != me) {{ {}; }} }} void x() {{ {} }} }}",
        ("throw new Denied()", "log.warn(id)"),
        ("checkOwner(id);", "if (!checkOwner(id)) stop();"),
    ),
}


@pytest.mark.parametrize("path", RAISING)
def test_a_check_that_answers_and_raises_no_more(path: str) -> None:
    form, (raising, answering), (bare, asked) = RAISING[path]
    readers = {"py": python, "js": javascript}
    reader = readers.get(path.rpartition(".")[2], generic)
    made = [
        {path: reader.read(path, form.format(a, b).encode(), {})}
        for a, b in ((raising, bare), (answering, bare), (answering, asked))
    ]
    assert [*unheard_losses(made[0], made[1])]
    assert not [*unheard_losses(made[0], made[2])]
    assert not [*unheard_losses(made[1], made[1])]
