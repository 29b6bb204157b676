"""PHP: superglobals, Laravel and Symfony."""

from __future__ import annotations

LARAVEL = "<?php\nclass A extends Controller {\n  public function f(Request $request) {\n    %s\n  }\n}\n"
PAIRS = [
    ("sql", "<?php\n$r = $db->query(\"select * from t where id = \" . $_GET['id']);\n",
     "<?php\n$r = $db->query(\"select * from t where id = \" . (int) $_GET['id']);\n"),
    ("sql", "<?php\n$id = $_POST['id'];\nmysqli_query($link, \"select * from t where id = '$id'\");\n",
     "<?php\n$id = mysqli_real_escape_string($link, $_POST['id']);\nmysqli_query($link, \"select * from t where id = '$id'\");\n"),
    ("sql", LARAVEL % "return DB::select(\"select * from t where n = '\" . $request->input('n') . \"'\");",
     LARAVEL % "return DB::select('select * from t where n = ?', [$request->input('n')]);"),
    ("sql", LARAVEL % "return User::query()->orderByRaw($request->get('sort'))->get();",
     LARAVEL % "$s = $request->get('sort'); if (!in_array($s, ['a', 'b'], true)) { abort(400); }"
               " return User::query()->orderByRaw($s)->get();"),
    ("sql", "<?php\n$s = $_GET['s'];\n$o = $s;\n$pdo->query('select * from t order by ' . $o);\n",
     "<?php\n$o = match ($_GET['s']) { 'a' => 'x', default => 'y' };\n$pdo->query('select * from t order by ' . $o);\n"),
    ("sql", "<?php\n$st = $pdo->prepare(\"select * from t where n = '{$_GET['n']}'\");\n",
     "<?php\n$st = $pdo->prepare('select * from t where n = :n');\n$st->execute(['n' => $_GET['n']]);\n"),
    ("shell", "<?php\nsystem('ping ' . $_GET['h']);\n", "<?php\nsystem('ping ' . escapeshellarg($_GET['h']));\n"),
    ("shell", "<?php\n$o = `ls {$_GET['d']}`;\n", "<?php\n$o = `ls /srv`;\n"),
    ("code", "<?php\neval($_POST['c']);\n", "<?php\n$c = json_decode($_POST['c']);\n"),
    ("path", "<?php\ninclude 'pages/' . $_GET['p'] . '.php';\n", "<?php\ninclude 'pages/' . basename($_GET['p']) . '.php';\n"),
    ("path", "<?php\n$f = $_GET['f'];\nreadfile('/data/' . $f);\n",
     "<?php\n$f = $_GET['f'];\nif (!preg_match('/^[a-z0-9]+$/', $f)) { exit; }\nreadfile('/data/' . $f);\n"),
    ("path", "<?php\n$p = realpath('/data/' . $_GET['f']);\necho file_get_contents($p);\n",
     "<?php\n$p = realpath('/data/' . $_GET['f']);\nif (strpos($p, '/data/') !== 0) { die('no'); }\n$x = file_get_contents($p);\n"),
    ("ssrf", "<?php\n$c = curl_init($_GET['u']);\n", "<?php\n$c = curl_init('https://api.example/q?u=' . urlencode($_GET['u']));\n"),
    ("ssrf", LARAVEL % "return Http::get($request->input('url'))->body();",
     LARAVEL % "return Http::get('https://api.example/users', ['u' => $request->input('url')])->body();"),
    ("xss", "<p><?php echo $_GET['n']; ?></p>\n", "<p><?php echo htmlspecialchars($_GET['n']); ?></p>\n"),
    ("xss", "<p><?= $_GET['n'] ?></p>\n", "<p><?= htmlspecialchars($_GET['n']) ?></p>\n"),
    ("path", "<?php\n$l = str_replace('../', '', $_GET['l']);\ninclude 'letters/' . $l . '.php';\n",
     "<?php\n$l = preg_replace('/[^a-z-]/', '', strtolower(trim($_GET['l'])));\ninclude 'letters/' . $l . '.php';\n"),
    ("path", "<?php\n$l = preg_replace('/[^a-z.\\/]/', '', $_GET['l']);\ninclude 'letters/' . $l . '.php';\n",
     "<?php\n$l = preg_replace('~[^\\w-]+~', '', $_GET['l']);\ninclude 'letters/' . $l . '.php';\n"),
    ("deserialise", "<?php\n$o = unserialize($_COOKIE['o']);\n", "<?php\n$o = unserialize($_COOKIE['o'], ['allowed_classes' => false]);\n"),
    ("redirect", LARAVEL % "return redirect($request->input('next'));", LARAVEL % "return redirect('/home?next=' . $request->input('next'));"),
    ("sql", "<?php\nfunction find($db, $n) {\n  return $db->query(\"select * from t where n = '$n'\");\n}\nfind($db, $_GET['n']);\n",
     "<?php\nfunction find($db, $n) {\n  return $db->query(\"select * from t where n = '$n'\");\n}\nfind($db, 'fixed');\n"),
    ("mass", LARAVEL % "return (new User())->forceFill($request->all());",
     LARAVEL % "return (new User())->forceFill(['name' => $request->input('name')]);"),
]  # fmt: skip
