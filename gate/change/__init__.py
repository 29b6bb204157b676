"""A git range as two trees and their difference, read from git objects."""
