from dataclasses import dataclass, field


@dataclass
class Account:
    backup_codes: str = ""
    scopes: list[str] = field(default_factory=list)

    def use_backup_code(self, code: str) -> bool:
        if code not in self.backup_codes.split(","):
            return False
        self.backup_codes = ",".join(one for one in self.backup_codes.split(",") if one != code)
        return True

    def may(self, scope: str) -> bool:
        return scope in self.scopes


def allowed(host: str, hosts: str) -> bool:
    hosts = hosts.split(",")
    return host in hosts


def table(line: str, marks: str, separators: str) -> list[str]:
    if marks in separators:
        return line.split(separators)
    return []


def has(sep: str, fields: str) -> bool:
    return sep in fields and len(fields.split(sep)) > 2


def comma(tags: str) -> bool:
    if "," in tags:
        return True
    return bool(tags.split("|"))


def found(word: str, notes: str) -> bool:
    print(notes.split("\n"))
    return word in notes
