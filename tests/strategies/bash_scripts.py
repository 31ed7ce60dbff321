"""Bash scripts of many kinds: about half of them change a file when they run, the others do not.

All chance comes from one `random.Random`, so a seed names a script. Whoever uses them runs them: what
a script was meant to do is only written down to find mistakes in the tables below.
"""

import shlex
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

_MAX_DEPTH = 3


class Script(NamedTuple):
    """A script, and whether it was made to change a file."""

    source: str
    writes: bool


def script(random: Random) -> Script:
    """Draw one script of a few statements."""
    maker = _Maker(random)
    statements = [maker.harmless(_MAX_DEPTH) for _ in range(random.randint(1, 5))]
    writes = random.random() < 0.5
    if writes:
        statements.insert(random.randint(0, len(statements)), maker.writing(_MAX_DEPTH))
    start = random.choice(("", "#!/usr/bin/env bash\n", "#!/usr/bin/env bash\nset -u\n"))
    return Script(
        f"{start}session=$1 x=7 word=abc rows=(1)\n" + "\n".join(statements) + "\n", writes
    )


# Where a command can stand so that it runs. `{0}` is the command, `{s}` what may separate it from the
# next one, `{q}` the command as one quoted word, `{n}` a number of its own.
_PLACES = (
    "{0}",
    "{{\n{0}{s}}}",
    "( {0}{s})",
    "if true; then {0}{s}fi",
    "if {0}{s}then :; fi",
    "if false; then :; else {0}{s}fi",
    "while true; do {0}{s}break; done",
    "until {0}{s}do break; done",
    "for i in 1 2; do {0}{s}done",
    "for ((i = 0; i < 1; i++)); do {0}{s}done",
    "for i in 1; {{ {0}{s}}}",
    "case x in (x) {0}{s};; esac",
    "case x in y) ;; *) {0}{s};; esac",
    "case x in x) ;& y) {0}{s}esac",
    "f{n}() {{ {0}{s}}}\nf{n}",
    "f{n}() ( {0}{s})\nf{n} data.txt",
    "function f{n} {{ {0}{s}}}\nf{n}",
    "true && {0}",
    "false || {0}",
    "! {0}",
    "time {0}",
    "( {0}{s}) &\nwait",
    "{{\n{0}{s}}} | cat",
    "echo a | {{\n{0}{s}}}",
    "echo a | while read -r line; do {0}{s}done",
    'echo "$({0}{s})"',
    "echo $({0}{s}) >/dev/null",
    "v{n}=$({0}{s})",
    'v{n}="a $({0}{s}) b"',
    "v{n}=( a $({0}{s}) )",
    "declare v{n}=$({0}{s})",
    "f{n}() {{ local a=$({0}{s}); }}\nf{n}",
    "echo {{a,$({0}{s})}}",
    ': "${{none:-$({0}{s})}}"',
    ': ${{x:+"$({0}{s})"}}',
    ': "${{word/b/$({0}{s})}}"',
    ': "${{word#$({0}{s})}}"',
    ": $(( $({{ {0}{s}}} >/dev/null; echo 1) + 1 ))",
    "(( v{n} = $({{ {0}{s}}} >/dev/null; echo 1) ))",
    ': "${{word:$({{ {0}{s}}} >/dev/null; echo 1)}}"',
    "for i in $({0}{s}); do :; done",
    "case $({0}{s}) in *) ;; esac",
    "[[ -n $({0}{s}) || a ]]",
    "[[ x == $({0}{s}) ]]",
    "cat <<END{n}\n$({0}{s})\nEND{n}",
    "cat <<-END{n} >/dev/null\n\t${{none:-$({0}{s})}}\n\tEND{n}",
    'cat <<< "$({0}{s})"',
    "cat < <({0}{s})",
    "mapfile -t v{n} < <({0}{s})",
    "coproc {{ {0}{s}}} </dev/null 2>/dev/null\nwait",
    "v{n}=$(trap {q} EXIT)",
    "( trap {q} EXIT )",
    "trap {q} DEBUG\n:\ntrap - DEBUG",
)
# Where only something that writes may stand: no script that is hidden like this is let pass.
_HIDEOUTS = (
    "eval {q}",
    "bash -c {q}",
    "bash <<< {q}",
    "source <(printf %s {q})",
    ". /dev/stdin <<< {q}",
    "v{n}={p}\n: ${{v{n}@P}}",
    "v{n}={i}\n(( v{n} ))",
    "v{n}={i}\n: $((v{n} + 1))",
    "v{n}={i}\n[[ $v{n} -eq 0 ]]",
    "declare -a v{n}={a}",
    "printf -v {i} x",
    "read -r {i} <<< x",
    "[ -v {i} ]",
    "declare -i v{n}\nv{n}={i}",
    "mapfile -t -C {c} -c 1 v{n} <data.txt",
    "compgen -W {p} x",
    "PS4={p}\nset -x\n:\nset +x\nPS4=+",
    "[[ $word == @($({0}{s})|a*) ]]",
    ": \"${{none:-'$({0}{s})'}}\"",
)
_PRODUCERS = ("echo x", "printf x", ":", "", "jq -n 1", "cat data.txt", "sort data.txt", "true")
_SIGNS = (">", ">>", ">|", "&>", "&>>", ">&", "1>", "1>>", "2>", "2>>", "3>", "<>", "1<>", "{fd}>")
_REOPENED = (
    "echo x 2<data.txt >/dev/stderr",
    "echo x 1<data.txt >/dev/stdout",
    "{ echo x >/dev/stderr; } 2<data.txt",
    "{ echo x >/dev/fd/3; } 3<data.txt",
    "( exec 2<data.txt; echo x >/dev/stderr )",
    "( exec 3<data.txt; exec 2<&3; : >/dev/stderr )",
    "( exec 1<>data.txt; echo x )",
    "( exec >owned; echo x )",
    "( exec {fd}>owned )",
)
# The first word is the command, `T` the file to write.
_WRITERS = (
    "touch T",
    "tee T",
    "tee -a T",
    "tee /dev/null T",
    "cp data.txt T",
    "mv data.txt T",
    "ln -s data.txt T",
    "mkdir T",
    "mkfifo T",
    "rm -f data.txt",
    "rm -rf T data.txt",
    "truncate -s 1 T",
    "dd if=data.txt of=owned status=none",
    "sort -o T data.txt",
    "sort data.txt -uo T",
    "sort --output=owned data.txt",
    "uniq data.txt T",
    "uniq -c data.txt T",
    "shuf -o T -e a",
    "split -l 1 data.txt T",
    "install data.txt T",
    "iconv -o T data.txt",
    "chmod 600 data.txt",
    "mktemp",
    "mktemp -d",
    "gzip -kf data.txt",
    "sed -i p data.txt",
    "sed -ni.bak p data.txt",
    "sed -n 'w owned' data.txt",
    "sed 's/o/0/gw owned' data.txt",
    "sed '1e touch owned' data.txt",
    "sed -n -e p -e '$w owned' data.txt",
    "awk 'BEGIN { print 1 > \"owned\" }'",
    "awk '{ print $1 >> \"owned\" }' data.txt",
    "awk -v f=owned '{ print > f }' data.txt",
    "awk 'BEGIN { system(\"touch owned\") }'",
    'awk \'BEGIN { print 1 | "cat >owned"; close("cat >owned") }\'',
    "awk 'BEGIN { \"touch owned\" | getline }'",
    "find . -maxdepth 0 -fprint T",
    "find . -maxdepth 0 -exec touch owned ';'",
    "find . -name data.txt -delete",
    "xargs -a data.txt -n 1 touch",
    "xargs -I{} touch {} <<< owned",
    "xargs -r -- touch <<< owned",
    "xargs env touch <<< owned",
    "sh -c 'touch owned'",
    "bash code.txt",
    "perl -e 'open(F, \">owned\")'",
)
_WRAPPERS = (
    "command {0}",
    "command -p {0}",
    "env {0}",
    "env -i PATH=/usr/bin:/bin TMPDIR=. {0}",
    "env -u A -- {0}",
    "nice -n 1 {0}",
    "nice {0}",
    "timeout 5 {0}",
    "timeout -k 1 -s TERM 5s {0}",
    "nohup {0}",
    "stdbuf -oL {0}",
    "setsid -w {0}",
    "( exec {0} )",
    "( exec -a jq {0} )",
    "A=1 {0}",
    "time -p {0}",
    "! {0}",
    "builtin command {0}",
    "command env nice {0}",
    "ionice -c 3 {0}",
)
_UNSEEN = (
    "c=touch; $c owned",
    'c=touch; "$c" owned',
    "$(echo touch) owned",
    "`echo touch` owned",
    '"${none:-touch}" owned',
    'c=(touch owned); "${c[@]}"',
    '( set -- touch owned; "$@" )',
    "{touch,owned}",
    "/usr/bin/touc? owned",
    "./tool",
    '"$PWD/tool"',
    "command ./tool",
    "( PATH=bin; jq . )",
    "PATH=bin jq .",
    "( export PATH=bin:$PATH; jq . )",
    "( printf -v PATH bin; jq . )",
    "( read -r PATH <<< bin; jq . )",
    "( hash -p /usr/bin/touch jq; jq owned )",
    "( BASH_CMDS[jq]=/usr/bin/touch; jq owned )",
    "( jq() { touch owned; }; jq )",
    "o=-oowned; sort $o data.txt",
    "o='w owned'; sed \"$o\" data.txt",
    'o=\'BEGIN { print 1 > "owned" }\'; awk "$o"',
    "t=owned; echo x > $t",
    't=owned; echo x >& "$t"',
    't=owned; cat data.txt | tee "$t"',
)
_SESSIONS = ('"$session"', '"$GH_AW_SESSION_FILE"', "data.txt", '"${session}"', '-- "$session"')
# `S` is a file to read, `V` a value, `C` a number.
_READERS = (
    "jq -c .type S",
    "jq -r '.data.toolName // empty' S",
    "jq -s 'map(select(.data.tokens > 3)) | length' S",
    "jq -n --arg a V '$a'",
    "jq -n --argjson n C '[$n]'",
    "grep -c tool S",
    "grep -Eo '\"[a-z]+\"' S",
    "grep -q -e V S",
    "head -n C S",
    "tail -n 2 S",
    "wc -l S",
    "wc -c <data.txt",
    "cut -d, -f1 S",
    "sort S",
    "sort -k1,1 -u S",
    "sort -t: -nrk2 data.txt",
    "uniq -c data.txt",
    "cat S",
    "cat -n data.txt",
    "tac S",
    "tr a-z A-Z <data.txt",
    "sed -n '1,2p' S",
    "sed 's/w/x/g; s|e|/|' S",
    "sed -E -e '/^$/d' -e 's/(a|o)+/<&>/' S",
    "sed '$!d;y/ow/we/' S",
    "awk '{ n++ } END { print n + 0 }' S",
    "awk -F: '$1 > 2 && NR >= 1 { print $1 / 2 }' S",
    "awk -v a=V 'BEGIN { print (a > 1), length(a) }'",
    'awk \'/a/ { s += length($0) } END { printf "%d>\\n", s > "/dev/stderr" }\' S',
    "awk 'function f(a) { return a > 1 ? a : -a } { print f(NF) }' S",
    "paste -sd, data.txt",
    "nl -ba data.txt",
    "rev data.txt",
    "fold -w 3 data.txt",
    "od -An -c data.txt",
    "md5sum S",
    "base64 data.txt",
    "seq 1 C",
    "expr C + 1",
    "basename S",
    "stat -c %s S",
    "date -u -d @0 +%Y",
    "diff <(sort data.txt) <(sort data.txt)",
    "comm -12 <(sort data.txt) <(cat data.txt)",
    "join data.txt data.txt",
    "find S -maxdepth 0",
    "xargs -n 2 echo <data.txt",
    "xargs -I{} printf '<%s>' {} <data.txt",
    "tee /dev/null <data.txt",
    "dd if=data.txt bs=1 count=2 status=none",
    "printf '%s>%d\\n' V C",
    "echo V C",
    "echo 'a > b' \"c >> d\" e \\> f",
    "echo '$(touch owned)' \\`touch owned\\`",
    "bc <<< 'scale=2; 10 / 4'",
    "env LC_ALL=C sort S",
    "nice -n 1 cat data.txt",
    "timeout 5 head -n 1 S",
    "command jq -c . S",
    "LC_ALL=C grep -c . S",
    "test -r S",
    "[ C -gt 1 ]",
    "[ a \\> b ]",
    "[[ -s data.txt && V > a ]]",
    "(( C > 2 ))",
    "true",
    ":",
)
_QUIET = (
    "", "", "", " 2>/dev/null", " >/dev/null", " &>/dev/null", " >/dev/null 2>&1", " 2>&1", " >&2",
    " 2>>/dev/null", " >|/dev/null", " >/dev/stderr", " >'/dev/null'", " 3>&1", " 2>&-", " &>>/dev/null",
)  # fmt: skip
_SIMPLE = (
    "v{n}=V",
    "v{n}=C; v{n}+=1",
    "v{n}=(a V C); echo \"${{v{n}[@]}} ${{#v{n}[@]}} ${{v{n}[1]}}\"",
    "declare -A v{n}=([a]=V [b]=C); echo \"${{!v{n}[@]}} ${{v{n}[a]}}\"",
    "declare -i v{n}=C; v{n}+=2; echo \"$v{n}\"",
    "readonly v{n}=V",
    "export V{n}=C",
    "printf -v v{n} '%s>' V; echo \"$v{n}\"",
    "read -r v{n} rest <<< V; echo \"${{v{n}}}\"",
    "IFS=: read -ra v{n} <<< a:b; echo \"${{v{n}[0]}}\"",
    "mapfile -t v{n} <data.txt; echo \"${{#v{n}[@]}}\"",
    "while IFS= read -r line; do [[ -n $line ]] || continue; done <data.txt",
    "while read -r -u 4 line; do echo \"$line\"; done 4<data.txt",
    "for ((i = 0; i < C; i++)); do echo $((i * 2)); done",
    "for i in {{1..3}} a{{b,c}} V; do echo \"$i\"; done",
    "case V in a*|[0-9]) echo digit ;; *) echo other ;; esac",
    "if (( C > 2 )); then echo more; elif [[ a < b ]]; then echo less; fi",
    "[[ V =~ ^([a-z]+)$ ]] && echo \"${{BASH_REMATCH[1]}}\"",
    "f{n}() {{ local a=${{1:-V}} b; b=C; echo \"$a $b\"; }}\nf{n} V",
    "f{n}() {{ [[ $# -gt 0 ]] || return 1; shift; echo \"$@\"; }}\nf{n} V C",
    "exec 3>&1; echo V >&3; exec 3>&-",
    "exec 4<data.txt; read -r v{n} <&4; exec 4<&-",
    "exec {{fd}}<data.txt; read -r v{n} <&\"$fd\"; exec {{fd}}<&-",
    "{{ echo out; echo err >&2; }} 2>&1 >/dev/null | cat",
    "cat <<'END{n}'\n$(touch owned) > `touch owned`\nEND{n}",
    "cat <<END{n}\nV > x \\$(touch owned) $((C + 1))\nEND{n}",
    "trap 'echo bye >&2' EXIT\ntrap - EXIT",
    "set -- V C; echo \"$#\" \"$*\"; set -- data.txt",
    "let v{n}=C+2 'v{n} = v{n} > 1'; echo \"$v{n}\"",
    "echo \"${{word:1:1}} ${{word^^}} ${{word/b/>}} ${{#word}} ${{word@Q}} ${{word%c}} ${{!word*}}\"",
    ": # touch owned > owned",
    "command -v jq >/dev/null || echo 'no jq' >&2",
    "echo a > /dev/null; shopt -s extglob\n[[ ab == @(a|b)* ]]",
    "sleep 0 & wait $!",
    "unset v{n}; umask 077",
)  # fmt: skip


class _Maker:
    """Draws the parts of one script."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._number = 0

    def harmless(self, depth: int) -> str:
        """Draw a statement that changes nothing."""
        roll = self._random.random()
        if depth > 0 and roll < 0.35:
            return self._placed(_PLACES, self.harmless(depth - 1))
        if roll < 0.65:
            return self._filled(self._format(self._pick(_SIMPLE), ""))
        if roll < 0.85:
            return self._reader() + self._pick(_QUIET)
        readers = (self._reader() for _ in range(self._random.randint(2, 3)))
        return self._pick((" | ", " && ", " || ", " |& ")).join(readers)

    def writing(self, depth: int) -> str:
        """Draw a statement that changes a file."""
        roll = self._random.random()
        if depth > 0 and roll < 0.5:
            return self._placed(_PLACES, self.writing(depth - 1))
        if depth > 0 and roll < 0.6:
            return self._placed(_HIDEOUTS, self.writing(0))
        kinds: Sequence[Callable[[], str]] = (
            self._redirection,
            self._redirection,
            self._writer,
            self._writer,
            self._writer,
            lambda: self._pick(_REOPENED),
            lambda: self._pick(_UNSEEN),
        )
        return self._pick(kinds)()

    def _redirection(self) -> str:
        producer, sign = self._pick(_PRODUCERS), self._pick(_SIGNS)
        if sign == "<>" and producer.startswith(("cat", "sort")):
            sign = ">"
        space = " " if sign == ">&" else self._pick(("", " "))
        redirection = f"{sign}{space}{self._target()}"
        if not producer or self._random.random() < 0.2:
            return f"{redirection} {producer}".rstrip()
        return f"{producer} {redirection}"

    def _writer(self) -> str:
        name, _, rest = self._pick(_WRITERS).partition(" ")
        words = " ".join(self._target() if word == "T" else word for word in rest.split(" "))
        command = f"{self._spelled(name)} {words}".rstrip()
        if self._random.random() < 0.4:
            command = self._pick(_WRAPPERS).format(command)
        return command

    def _target(self) -> str:
        """Draw a way to write the name of a file that is not there."""
        if self._random.random() < 0.3:
            return self._pick(("./owned", '"$PWD"/owned', "~/owned", "owned$x", '"owned-$word"'))
        return self._spelled("owned")

    def _spelled(self, word: str) -> str:
        """Draw a spelling of a word that Bash reads as that word."""
        half = len(word) // 2
        first, second = word[:half], word[half:]
        plain = (word,) * 6
        return self._pick(
            (
                *plain,
                f'"{word}"',
                f"'{word}'",
                f"{first}'{second}'",
                f'"{first}"{second}',
                f"{first}''{second}",
                f"\\{word}",
                f"{first}\\{second}",
                f"$'{word}'",
                f"$'\\x{ord(word[0]):02x}{word[1:]}'",
                f"{first}$'\\{ord(second[0]):03o}{second[1:]}'",
                f"{first}\\\n{second}",
                f'$"{word}"',
            )
        )

    def _reader(self) -> str:
        name, space, rest = self._filled(self._pick(_READERS)).partition(" ")
        if name.isalpha() and self._random.random() < 0.15:
            # A name that may be translated is a name that nobody can see.
            name = self._spelled(name).replace('$"', '"')
        return f"{name}{space}{rest}"

    def _filled(self, template: str) -> str:
        """Put values in the place of the capital letters that stand alone."""
        parts: list[str] = []
        for index, letter in enumerate(template):
            before, after = template[index - 1 : index], template[index + 1 : index + 2]
            alone = not (before.isalnum() or after.isalnum() or before in ("_", "$", "{", "%"))
            alone = alone and before != "-" and after not in ("_", "=")
            parts.append(self._value(letter) if alone else letter)
        return "".join(parts)

    def _value(self, letter: str) -> str:
        if letter == "S":
            return self._pick(_SESSIONS)
        if letter == "C":
            return self._pick(("3", "$x", '"$x"', "$((x + 1))", "${#word}", "$((x > 3 ? 1 : 2))"))
        if letter == "V":
            values = (
                "abc",
                '"$word"',
                "'a b'",
                "$'a\\tb'",
                '"${none:-d e}"',
                "a\\ b",
                '"$(echo z)"',
            )
            return self._pick((*values, "`echo y`", '"${word:-$(echo a)}"', '"it\'s >"'))
        return letter

    def _placed(self, places: Sequence[str], command: str) -> str:
        place = self._pick(places)
        is_plain = not set('\\$"`') & set(command) and "<<" not in command
        if is_plain and self._random.random() < 0.1:
            return f"echo `{command}`"
        return self._format(place, command)

    def _format(self, template: str, command: str) -> str:
        self._number += 1
        # Two brackets at the start would be a computation.
        command = f" {command}" if command.startswith("(") else command
        has_text = "<<" in command or "#" in command
        separator = "\n" if has_text or command.endswith("&") else self._pick(("; ", "\n"))
        inner = f"{{ {command}{separator}}} >/dev/null"
        return template.format(
            command,
            s=separator,
            n=self._number,
            q=shlex.quote(command),
            p=shlex.quote(f"$({command}{separator})"),
            i=shlex.quote(f"rows[$({inner}; echo 0)]"),
            a=shlex.quote(f"(1 $({command}{separator}))"),
            c=shlex.quote(f"{command}\n#"),
        )

    def _pick(self, options: Sequence):  # type: ignore[type-arg]
        return self._random.choice(options)
