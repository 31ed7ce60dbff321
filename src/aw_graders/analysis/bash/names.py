"""Variables that change what later names mean, or that make programs run or write things."""

import re
from typing import Final

_EXACT: Final = frozenset(
    (
        *("PATH", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "POSIXLY_CORRECT"),
        *("BASH_CMDS", "BASH_ALIASES", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "BASH_COMPAT"),
        *("PS0", "PS1", "PS2", "EXECIGNORE", "SHELL", "CHILD_MAX", "INPUTRC", "FCEDIT"),
        *("HISTFILE", "HISTFILESIZE", "HISTSIZE", "HISTCONTROL", "HISTIGNORE", "HISTTIMEFORMAT"),
        *("HOME", "XDG_CONFIG_HOME", "CURL_HOME", "WGETRC", "SYSTEM_WGETRC"),
        *("EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESS", "LESSOPEN", "LESSCLOSE"),
        *("TAR_OPTIONS", "GZIP", "XZ_OPT", "XZ_DEFAULTS", "BZIP", "BZIP2", "ZIPOPT", "UNZIP"),
        *(
            "GREP",
            "GREP_OPTIONS",
            "TAPE",
            "RIPGREP_CONFIG_PATH",
            "MAKEFLAGS",
            "RSYNC_RSH",
            "TERMINFO",
        ),
        *("GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "SSLKEYLOGFILE", "OPENSSL_CONF"),
        *("AWKPATH", "AWKLIBPATH", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH"),
        *("TEXTDOMAINDIR", "GETCONF_DIR", "HOSTALIASES", "OPENSSL_ENGINES", "OPENSSL_MODULES"),
        *("PERLLIB", "PERLIO_DEBUG", "MLRRC", "MLR_NO_COLOR", "SQLITE_HISTORY", "JQ_LIB"),
    )
)
_STARTS: Final = re.compile(
    r"(?:LD_|BASH_FUNC_|GAWK_|GIT_|GH_(?!AW_)|PERL5|PERL_|PYTHON|SSH_|MALLOC_|PKG_CONFIG_|GCOV_|DYLD_)"
)
_RUNS_CODE: Final = re.compile(r"\$[({\[]|`")
_PLAIN_TRACE: Final = re.compile(r"\$\{?\w+\}?", re.ASCII)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*(?:\[[\w@*+ -]*\])?", re.ASCII)

TRACE_PROMPT: Final = "PS4"


def is_guarded(name: str) -> bool:
    """Tell whether a variable is one that no evaluator may set."""
    return name in _EXACT or _STARTS.match(name) is not None


def is_identifier(text: str) -> bool:
    """Tell whether a text is the name of a variable and nothing else."""
    return _IDENTIFIER.fullmatch(text) is not None


def is_variable(text: str) -> bool:
    """Tell whether a text names a variable, or an element by a plain subscript."""
    return _VARIABLE.fullmatch(text) is not None


def holds_subscript_code(text: str) -> bool:
    """Tell whether arithmetic would run a part of a text: a substitution within a subscript."""
    at = text.find("[")
    return at >= 0 and _RUNS_CODE.search(text, at) is not None


def holds_code(text: str) -> bool:
    """Tell whether a text holds a command substitution for whoever reads it as Bash."""
    return "$(" in text or "`" in text


def is_network(text: str) -> bool:
    """Tell whether a redirection to a text like this would open a connection."""
    return "/dev/tcp/" in text or "/dev/udp/" in text


def is_plain_trace(text: str) -> bool:
    """Tell whether a prompt of `set -x` only shows variables."""
    return not _RUNS_CODE.search(_PLAIN_TRACE.sub("", text))
