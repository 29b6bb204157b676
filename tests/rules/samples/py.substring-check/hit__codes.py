from dataclasses import dataclass

from flask import abort


@dataclass
class Account:
    backup_codes: str = ""
    scopes: str = ""

    def use_backup_code(self, code: str) -> bool:
        if code.strip() not in self.backup_codes:  # HIT
            return False
        left = [one for one in self.backup_codes.split(",") if one != code]
        self.backup_codes = ",".join(left)
        return True

    def may(self, scope: str) -> bool:
        return scope in self.scopes  # HIT

    def all_scopes(self) -> list[str]:
        return self.scopes.split()


def only_from(host: str, allowed_hosts: str) -> None:
    if host not in allowed_hosts:  # HIT
        abort(403)
    print(allowed_hosts.split(";"))
