"""Commands that are judged by their name alone."""

import re
from typing import Final

# They read, compute and print; no option of theirs writes a file or runs a program.
READERS: Final = frozenset(
    (
        *("arch", "b2sum", "base32", "base64", "basename", "basenc", "bc", "bzcat", "cal"),
        *("cat", "cksum", "clear", "cmp", "col", "colrm", "column", "comm", "cut", "datamash"),
        *("df", "diff", "dig", "dir", "dirname", "du", "echo", "egrep", "expand"),
        *("expr", "factor", "false", "fgrep", "fmt", "fold", "free", "getconf", "getent"),
        *("getopt", "gojq", "grep", "groups", "hd", "head", "hexdump", "host"),
        *("id", "join", "jq", "locale", "logname", "look", "ls", "lscpu", "lsof", "lzcat"),
        *("md5sum", "nl", "nproc", "nslookup", "numfmt", "od", "paste", "pathchk", "pgrep"),
        *("pidof", "ping", "pr", "printenv", "ps", "readlink", "realpath", "rev", "seq"),
        *("sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "sleep"),
        *("stat", "strings", "sum", "tac", "tail", "tr", "true", "tsort", "tty", "uname"),
        *("unexpand", "uptime", "users", "vdir", "vmstat", "wc", "which", "whereis", "who"),
        *("whoami", "xzcat", "yes", "zcat", "zegrep", "zfgrep", "zgrep", "envsubst", "uuidgen"),
        *("c++filt", "dircolors", "hostid", "last", "lsb_release", "lsblk"),
        *("mcookie", "pstree", "readelf", "rgrep", "size"),
        *("stty", "tput", "ul", "w", "zdump", "zipinfo", "bzgrep", "xzgrep", "lsattr", "ipcs"),
    )
)
# Shell builtins that neither write nor run anything, whatever their arguments.
PLAIN_BUILTINS: Final = frozenset(
    (
        *(":", "bg", "break", "caller", "cd", "continue", "dirs", "disown", "exit", "fg", "help"),
        *("kill", "logout", "popd", "pushd", "pwd", "return", "shift", "suspend", "times"),
        *("type", "ulimit", "umask", "unalias"),
    )
)
WRITERS: Final = frozenset(
    (
        *("7z", "7za", "7zr", "a2ps", "ar", "aria2c", "axel", "bzip2recover", "chattr", "chcon"),
        *("chfn", "chgrp", "chmod", "chown", "chsh", "cp", "cpio", "csplit", "ctags", "dos2unix"),
        *("dot", "etags", "fallocate", "fsck", "install", "ln", "lndir", "localedef", "logger"),
        *("lz4", "lzip", "lzma", "lzop", "mail", "mailx", "mesg", "mkdir", "mkfifo", "mkfs"),
        *("mknod", "mkswap", "mktemp", "mount", "mv", "objcopy", "passwd", "patch", "pax", "ptx"),
        *("ranlib", "recode", "rename", "renice", "rm", "rmdir", "rsync", "scp", "sdiff"),
        *("sendmail", "setfacl", "setfattr", "sftp", "shred", "split", "sponge", "srm", "strip"),
        *("swapoff", "swapon", "sync", "tempfile", "tic", "touch", "truncate", "tune2fs"),
        *("umount", "uncompress", "compress", "unix2dos", "unlink", "unlzma", "unxz", "unzstd"),
        *("updatedb", "useradd", "userdel", "usermod", "uudecode", "vipw", "wall", "write"),
        *("xsltproc", "youtube-dl", "yt-dlp", "zip", "zipcloak", "zipnote", "zipsplit", "zdiff"),
        *("zcmp", "znew", "gzexe", "crontab", "at", "batch", "link", "tangle", "pandoc", "link"),
        *(
            "convert",
            "magick",
            "ffmpeg",
            "dd_rescue",
            "ddrescue",
            "mcopy",
            "genisoimage",
            "xorriso",
        ),
        *("losetup", "fdisk", "parted", "sfdisk", "wipefs", "mdadm", "lvm", "chroot", "pivot_root"),
        *("sysctl", "modprobe", "insmod", "rmmod", "iptables", "ip", "ifconfig", "route"),
        *("systemctl", "service", "journalctl", "dpkg", "apt", "apt-get", "apt-key", "snap"),
        *(
            "adduser",
            "addgroup",
            "badblocks",
            "blkdiscard",
            "catman",
            "c_rehash",
            "cscope",
            "deluser",
        ),
        *("elfedit", "fc-cache", "gcov", "gencat", "gpg", "gpg2", "gpgtar", "groupadd", "groupdel"),
        *("hardlink", "hwclock", "iconvconfig", "ipcmk", "ipcrm", "jar", "keytool", "killall"),
        *("ldconfig", "lz4c", "mandb", "mke2fs", "nstat", "pkill", "poweroff", "ppmto", "pzstd"),
        *("reboot", "resize2fs", "savelog", "shutdown", "halt", "init", "telinit", "ucf", "unlz4"),
        *("unzipsfx", "utmpdump", "xauth", "xgettext", "zic", "zramctl", "rtacct", "rmt", "tarcat"),
        *(
            "pygmentize",
            "uconv",
            "genisoimage",
            "dump",
            "restore",
            "growisofs",
            "cjpeg",
            "exiftool",
        ),
        *("zforce", "bzexe", "lzmore", "xzmore", "xzdiff", "xzcmp", "bzdiff", "bzcmp", "lzdiff"),
        *("sqldiff", "truncate64", "gpgsplit", "gpgsm", "split-file", "logsave", "last2file"),
    )
)
# Programs that take a program of their own, or run others: shells, languages, editors, builders.
INTERPRETERS: Final = frozenset(
    (
        *(
            "ansible",
            "ash",
            "bash",
            "rbash",
            "bun",
            "bunx",
            "bundle",
            "cargo",
            "cc",
            "c++",
            "clang",
        ),
        *("cmake", "coffee", "composer", "conda", "cpan", "cpp", "crystal", "csh", "csi", "dash"),
        *("deno", "docker", "docker-compose", "dotnet", "ed", "eex", "elixir", "emacs"),
        *("emacsclient", "erl", "ex", "expect", "fish", "fakeroot", "g++", "gawkbug", "gcc"),
        *("gdb", "gdbserver", "gem", "ghc", "go", "gradle", "groovy", "guile", "helm", "irb"),
        *("java", "javac", "jdb", "jrunscript", "jshell", "julia", "kotlin", "kotlinc", "ksh"),
        *("kubectl", "ld", "ld.so", "less", "lftp", "lua", "luajit", "m4", "make", "gmake", "man"),
        *("mawk-script", "mc", "micro", "mksh", "more", "most", "mvn", "mysql", "nano", "nim"),
        *("ninja", "node", "nodejs", "npm", "npx", "nvim", "ocaml", "octave", "osascript"),
        *("perl", "pdksh", "php", "pip", "pip3", "pipx", "pnpm", "podman", "posh", "psql", "pwsh"),
        *("pypy", "pypy3", "python", "python2", "python3", "R", "racket", "rake", "rg-script"),
        *("Rscript", "ruby", "runhaskell", "rust-script", "sbt", "scala", "scheme", "screen"),
        *("sh", "sqlite", "sqlite3", "ssh", "ssh-agent", "swift", "tclsh", "tcsh", "terraform"),
        *("tmux", "ts-node", "tsx", "uv", "uvx", "vi", "view", "vim", "vimdiff", "rvim", "wish"),
        *("yarn", "yash", "zsh", "gnuplot", "maxima", "gp", "bconsole", "rlwrap", "xterm", "pg"),
        *("telnet", "ftp", "socat", "mosh", "rsh", "rlogin", "zless", "zmore", "xzless", "bzmore"),
        *(
            "openvt",
            "chrt",
            "ltrace",
            "strace",
            "perf",
            "valgrind",
            "uftrace",
            "bpftrace",
            "catchsegv",
        ),
        *("script", "scriptreplay", "watch", "parallel", "sem", "entr", "inotifywait", "run-parts"),
        *(
            "start-stop-daemon",
            "daemonize",
            "systemd-run",
            "pkexec",
            "sudo",
            "su",
            "doas",
            "runuser",
        ),
        *("setpriv", "capsh", "newgrp", "sg", "unshare", "nsenter", "flock", "setarch", "linux32"),
        *(
            "linux64",
            "numactl",
            "prlimit",
            "choom",
            "torsocks",
            "proxychains",
            "xvfb-run",
            "dbus-run-session",
        ),
        *(
            "toybox",
            "busybox",
            "env-update",
            "gio",
            "xdg-open",
            "open",
            "sensible-editor",
            "editor",
        ),
        *("pager", "sensible-pager", "select-editor", "vipe", "ifne", "pee", "chronic", "mispipe"),
        *("red", "rview", "runcon", "uclampset", "rtcwake", "eatmydata", "memusage", "sotruss"),
        *("mtrace", "groff", "troff", "nroff", "pic", "soelim", "tbl", "eqn", "lli", "llc", "opt"),
        *(
            "i386",
            "i686",
            "x86_64",
            "uname26",
            "sparc",
            "sparc32",
            "ppc",
            "ppc32",
            "arm",
            "aarch64",
        ),
        *(
            "diff3",
            "zipgrep",
            "tclsh8.6",
            "gapplication",
            "dbus-launch",
            "init-wrapper",
            "catchsegv",
        ),
        *("mlr", "csvtool", "xmlstarlet", "jo", "nawk-script", "ack", "ag", "fzf", "sk"),
    )
)
# Programs come under names with a version or a purpose: python3.11, rename.ul, git-shell.
FAMILIES: Final = re.compile(
    r"(?:aarch64-linux-gnu|apt|cargo|clang|cpan|cpp|dbus|docker|dpkg|emacs|fakeroot|fsck|g\+\+|gcc|gdb"
    r"|git|go|gpg|java|ksh|llvm|lua|mkfs|msg|node|perl|pg|php|pip|pkexec|python|pypy|rename|rsync|ruby"
    r"|rustup|ssh|systemd|tclsh|update|valgrind|vim|wish|x86_64-linux-gnu)[-_.0-9].*"
)
