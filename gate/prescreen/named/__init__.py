"""What texts of data and code name: functions that act, files of credentials, places that run"
" later, entries.
"""
