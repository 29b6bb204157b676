import ftplib
import telnetlib

# ruleid: python-plain-protocol
telnetlib.Telnet("host")
ftp = ftplib.FTP("host")
# ruleid: python-plain-protocol
ftp.login("user", password)
# ok: python-plain-protocol
ftplib.FTP_TLS("host")
# ok: python-plain-protocol
ftplib.FTP("host")
