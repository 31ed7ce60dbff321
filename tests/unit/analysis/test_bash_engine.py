"""What the parts of the Bash analysis say: places, words, options, values, awk, sed, limits."""

import time

import pytest

from aw_graders.analysis.bash import RULES, analyse_bash, awk, check_evaluator_bytes, sed
from aw_graders.analysis.bash.arguments import Argument, grammar, parse
from aw_graders.analysis.bash.doubts import find_doubts
from aw_graders.analysis.bash.facts import TOP, Facts, gather
from aw_graders.analysis.bash.parser import _program as parser_program
from aw_graders.analysis.bash.parser import check_parser
from aw_graders.analysis.bash.parser import parse as parse_script
from aw_graders.analysis.bash.registry import MODELS, is_known
from aw_graders.analysis.bash.tree import TooDeepError, UnknownSyntaxError, build
from aw_graders.analysis.bash.values import Trait, Values
from aw_graders.analysis.bash.words import decode_ansi, read_word
from aw_graders.analysis.model import ParserMissingError

_WRITE = "grader-shell-file-write"
_DYNAMIC = "grader-shell-dynamic"
_SINKS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))
_SECONDS = 2.0
_SHARE_OF_A_BUSY_MACHINE = 4


def _errors(source):
    return [one for one in analyse_bash(source.encode()).findings if one.severity == "error"]


def _codes(source):
    return {one.code for one in _errors(source)}


def _warnings(source):
    return {one.code for one in analyse_bash(source.encode()).findings if one.severity == "warning"}


def _words(source):
    root = parse_script(source.encode())
    command = root.nodes("Stmts")[-1].node("Cmd")
    return root, command.nodes("Args")


# --- places ---------------------------------------------------------------------------------------


def test_a_finding_points_at_the_construct_in_characters():
    (found,) = _errors('words="äöü" # ok\necho "größe" | tee übersicht.txt')

    assert (found.line, found.column, found.length) == (2, 20, 13)
    assert found.rule == found.code == _WRITE
    assert found.hint


def test_a_redirection_is_the_place_of_what_it_writes():
    (found,) = _errors("printf '%s' é >é.txt")

    assert (found.line, found.column, found.length) == (1, 15, 6)


def test_a_construct_over_several_lines_ends_with_its_first():
    (found,) = _errors('sed -n "\n$x\n" a')

    assert (found.line, found.column, found.length) == (1, 8, 1)


def test_what_a_trap_runs_is_shown_at_the_trap():
    (found,) = _errors("trap 'echo a\nrm x' EXIT")

    assert (found.line, found.column) == (1, 6)


def test_findings_come_in_the_order_of_their_places():
    found = _errors("rm a\neval b; touch c\nfoo\n>d")

    assert [(one.line, one.column) for one in found] == sorted(
        (one.line, one.column) for one in found
    )
    assert len(found) == 4


def test_errors_are_not_hidden_by_any_number_of_warnings():
    assert _codes("unheard_of\n" * 400 + "rm x\n") == {_WRITE}
    assert len(analyse_bash(b"unheard_of\n" * 400 + b"rm x\n").findings) == 200


def test_no_script_gets_endless_findings():
    assert len(analyse_bash(b"rm x\n" * 5000).findings) == 200


def test_every_rule_has_its_findings():
    script = """
    rm x
    curl -s https://example.org
    ls
    jq .run.id "$1"
    cat
    unheard_of
    """
    assert {one.rule for one in analyse_bash(script.encode()).findings} == set(RULES)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "exact", "head", "is_single"),
    [
        ("r'm'", "rm", "rm", True),
        ("r\\m", "rm", "rm", True),
        ('"r"m', "rm", "rm", True),
        ("$'\\x72\\155'", "rm", "rm", True),
        ('"a\\$b\\c"', "a$b\\c", "a$b\\c", True),
        ("a$x", None, "a", False),
        ('"a$x"', None, "a", True),
        ('"$@"', None, "", False),
        ('"$*"', None, "", True),
        ('"${a[@]}"', None, "", False),
        ('"${#a[@]}"', None, "", True),
        ("{rm,x}", None, "", False),
        ("r{m,}", None, "r", False),
        ("{}", "{}", "{}", True),
        ("a*", None, "a", False),
        ("[", "[", "[", True),
        ("~/x", None, "/", False),
        ('$"rm"', None, "", False),
        ("<(true)", None, "", True),
    ],
)
def test_a_word_is_what_bash_makes_of_it(written, exact, head, is_single):
    _, words = _words(f"echo {written}")
    text = read_word(words[1])

    assert (text.exact, text.head, text.is_single) == (exact, head, is_single)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a\\tb", "a\tb"),
        ("\\x41\\101\\u0041\\U00000041", "AAAA"),
        ("\\x{41}", "A"),
        ("r\\'m", "r'm"),
        ("rm\\0hidden", "rm"),
        ("\\cA", "\x01"),
        ("\\U7fffffff", "\ufffd"),
        ("\\z", "\\z"),
    ],
)
def test_escapes_are_read_as_bash_does(written, read):
    assert decode_ansi(written) == read


# --- options --------------------------------------------------------------------------------------

_ROOT, _ANY_WORDS = _words("echo x")


def _arguments(*texts):
    return [
        Argument(_ANY_WORDS[1], text, text, is_single=True, is_calm=text == "-" or text[:1] != "-")
        for text in texts
    ]


@pytest.mark.parametrize(
    ("texts", "options", "operands"),
    [
        (("-uo", "f", "a"), [("u", None), ("o", "f")], ["a"]),
        (("a", "-of"), [("o", "f")], ["a"]),
        (("--outp=f",), [("output", "f")], []),
        (("--output", "f", "b"), [("output", "f")], ["b"]),
        (("--", "-o", "f"), [], ["-o", "f"]),
        (("-",), [], ["-"]),
        (("-y", "a"), [("y", None)], ["a"]),
        (("-yb", "a"), [("y", "b")], ["a"]),
    ],
)
def test_options_are_read_as_getopt_does(texts, options, operands):
    parsed = parse(_arguments(*texts), grammar("uo:y::", "output: unique"))

    assert [(one.name, one.value.text if one.value else None) for one in parsed.options] == options
    assert [one.text for one in parsed.operands] == operands
    assert not parsed.doubtful
    assert not parsed.unknown


def test_an_abbreviation_counts_as_everything_it_may_mean():
    parsed = parse(_arguments("--o"), grammar("", "output: older"))

    assert [one.name for one in parsed.options] == ["output", "older"]


def test_options_end_at_the_first_operand_where_they_do():
    parsed = parse(_arguments("-u", "a", "-o", "f"), grammar("uo:", stops=True))

    assert [one.text for one in parsed.operands] == ["a", "-o", "f"]


def test_an_option_that_no_table_lists_is_told():
    parsed = parse(_arguments("-z", "--zero"), grammar("u", "unique"))

    assert [one.name for one in parsed.unknown] == ["z", "zero"]


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "traits"),
    [
        ('x=$1; echo "$x"', Trait.CALM | Trait.TIDY | Trait.INERT),
        ('x=-o; echo "$x"', Trait.INERT),
        ('x="a -o"; echo "$x"', Trait.CALM | Trait.INERT),
        ('x=$(jq . "$1"); echo "$x"', Trait.INERT),
        ('x=5; echo "$x"', ~Trait(0)),
        ('x=5; ((x++)); echo "$x"', ~Trait(0)),
        ('x=$(wc -l < "$1"); echo "$x"', ~Trait(0)),
        ('x=y; y=-z; x=$y; echo "$x"', Trait.INERT),
        ('x=$y; y=$x; y=-o; echo "$x"', Trait.INERT),
        ('read -r x; echo "$x"', Trait.INERT),
        ("x='a[1]'; echo \"$x\"", Trait.CALM),
        ("x=$(printf 'a[%s' b); echo \"$x\"", Trait(0)),
        ('set -- -o; echo "$1"', Trait.INERT),
        ('echo "${#x}"', ~Trait(0)),
        ('x=ab; echo "${x#a}"', Trait.INERT),
        ('declare -n r=x; x=a; r=-o; echo "$x"', Trait.INERT),
    ],
)
def test_what_is_sure_of_a_value_comes_from_all_that_the_script_gives_it(script, traits):
    root, words = _words(script)
    facts = Facts()
    gather(root, TOP, facts)

    assert Values(facts).of(words[1], TOP) == traits


def test_chains_of_copies_without_end_are_sure_of_nothing():
    lines = [f"a{at}=$a{at + 1}" for at in range(50)]
    root, words = _words("\n".join([*lines, 'a50=x; echo "$a0"']))
    facts = Facts()
    gather(root, TOP, facts)

    assert Values(facts).of(words[1], TOP) == Trait(0)


# --- awk and sed ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [
        "$3 > 10 { n++ } END { print n + 0 }",
        '{ print (a > b) > "/dev/stderr" }',
        '{ print a["x" > "y"] }',
        "{ if (a > b) print a; x = c > d }",
        "/[^/]*>/ { print }",
        '$0 ~ "a|b" || /c|d/ { gsub(/[|>]/, "") }',
        "{ x = a / b; y = c / d; print x / y }",
        "# print > x\n{ print }",
        'BEGIN { while ((getline line < "f") > 0) n++ }',
        "function f(x) { return x > 1 } { print f(1) }",
        "{ print $1, \\\n $2 }",
    ],
)
def test_a_plain_awk_program_is_harmless(program):
    assert awk.find_dangers(program, _SINKS) == []


@pytest.mark.parametrize(
    "program",
    [
        '{ print > "x" }',
        '{ print a, b >> "x" }',
        '{ print(a)(b) > "x" }',
        '{ print (a > b) > "x" }',
        '{ print > "/dev/stderr" "x" }',
        "{ print > $1 }",
        '{ print a,\n b > "x" }',
        '{ printf "%s", a > f }',
        '{ print | "sh" }',
        '"date" | getline',
        'BEGIN { "date" |& getline }',
        'BEGIN { system("date") }',
        'BEGIN { awk::system("date") }',
        '@load "filefuncs"',
        'BEGIN { f = "system"; @f() }',
        'if (1) /"/ ; system("x") #"',
        '/[/]"/; system("x") #"',
        'BEGIN { getline < "/inet/tcp/0/h/80" }',
        '{ print "unfinished }',
        "{ print length / 2 }",
    ],
)
def test_an_awk_program_that_writes_or_runs_something_is_told(program):
    assert awk.find_dangers(program, _SINKS)


@pytest.mark.parametrize(
    "script",
    [
        "1,5p",
        "s/w/x/g;s,e,w,I",
        "/w/,/e/{p;d}",
        "$!N;P;D",
        "s/a/\\/w x/",
        "a\\\nw text\n",
        "y/abc/wew/",
        ":a;s/x/y/;ta",
        "0~3!d;2,+4p;\\,w,p",
        "# w x\np",
        "w /dev/stdout",
        "s/[w]/e/w /dev/stderr",
        "r other",
        "5q;10Q1",
    ],
)
def test_a_plain_sed_script_is_harmless(script):
    assert sed.find_dangers(script, _SINKS) == []


@pytest.mark.parametrize(
    "script",
    [
        "w x",
        "1,5w x",
        "/a/!W x",
        "s/a/b/w x",
        "s/a/b/gpw x",
        "s/a/b/e",
        "1e date",
        "e",
        "{p;w x\n}",
        "a\\\ntext\nw x",
        "s,a,b,;w x",
        "s/[/]/w x",
        "\\ea\\e,\\,b,w x",
        "s/a/b",
        "1,p",
        "k",
        "y/a/",
    ],
)
def test_a_sed_script_that_writes_or_runs_something_is_told(script):
    assert sed.find_dangers(script, _SINKS)


# --- traps that were real holes -------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        # words
        "echo \"${x:-'$(touch y)'}\"",
        "cat <<E\n${x:-'$(touch y)'}\nE",
        "echo \"$(( '$(touch y)' ))\"",
        "{touch,y}",
        "t{ouch,} y",
        "[[ x == @($(touch y)) ]]",
        "echo $[$(touch y)1]",
        'echo "${x@P}"',
        'echo "${!x}"',
        "echo x > y{,}",
        "true\r\n",
        'echo "$\\\n(touch y)"',
        "true # remark\\\ntouch y",
        # arithmetic
        "x='a[$(touch y)]'; ((x))",
        "x='a[$(touch y)]'; [[ $x -eq 1 ]]",
        "x='$(touch y)'; v=\"a[$x]\"; echo $((v))",
        "[[ -v 'a[$(touch y)]' ]]",
        "test -v 'a[$(touch y)]'",
        "printf -v 'a[$(touch y)]' x",
        "unset 'a[$(touch y)]'",
        'unset "m[$k]"',
        "read 'a[$(touch y)]' <<< x",
        "declare 'a[$(touch y)]=1'",
        "declare -a x='($(touch y))'",
        'y=$(cat "$1"); declare -a x="$y"',
        'x=(); y=$(cat "$1"); declare x="$y"',
        "declare -n ref='a[$(touch y)]'",
        "OPTIND='a[$(touch y)]'",
        "let 'a[$(touch y)]=1'",
        "let x=1>y",
        'k=$(jq -r .k "$1"); v=([$k]=1)',
        "wait -p 'a[$(touch y)]'",
        # redirections
        ": > f; echo x 2<f >/dev/stderr",
        "exec 1<f",
        '{ echo x >/dev/stdout; } <"$1" >&0',
        'exec 3<"$1"; { echo x >/dev/stdout; } >&3',
        "exec 3>&4 4>&5",
        "exec 03>y; echo >&3",
        "f() { :; } > y",
        "exec 2>&-; cat x > /dev/stderr",
        "f() { awk '{ print > \"/dev/fd/2\" }' x; }; f 2>&-",
        "exec 4<&2-; echo x | tee /dev/stderr",
        "cat <<E\nE\\\nF\n$(touch y)\nE",
        "x=$(cat <<'E'\nE: >y)\nE\n)",
        # names
        "PATH=/x",
        "export PATH+=:/x",
        "read -r PATH <<< /x",
        "printf -v PATH /x",
        "for PATH in /x; do :; done",
        ": ${PATH:=/x}",
        "(( PATH = 1 ))",
        "unset PATH",
        "declare -n r=PATH",
        'declare "$n=1"',
        "env LD_PRELOAD=x jq .",
        "BASH_CMDS[jq]=/x",
        "PS4='$(touch y)'",
        "printf -v PS4 x",
        # commands
        "jq() { :; }",
        'set -- touch y; "$@"',
        "$0 x",
        "./x",
        "../bin/jq .",
        "time -- touch y",
        "coproc A=1 touch y",
        "coproc 2>&1 touch y",
        "env - touch y",
        "env -S 'touch y'",
        "exec -a jq touch y",
        "xargs -I{} {} y",
        "find . -okdir touch y ';'",
        'f() { sort "$@"; }; f -oy',
        'o="-k1 -oy"; sort $o',
        'sort "$(jq -r .f "$1")"',
        "x86_64 touch y",
        "python3.11 -c 1",
        "set -k",
        "set -o posix",
        "shopt -s expand_aliases",
        "trap 'trap \"rm y\" EXIT' USR1",
        "trap $'true #\\\\\\ntouch y' EXIT",
        "compgen -W '$(touch y)'",
        "jobs -x touch y",
        "mapfile -C touch rows",
        "history -a y",
        "command builtin eval x",
        "curl -w '%output{y}x' https://example.org",
        "git -c alias.x=!y x",
        "tar xf a.tar",
        "env " * 50 + "true",
    ],
)
def test_a_way_around_is_closed(source):
    assert _codes(source) & {_WRITE, _DYNAMIC, "grader-shell-too-complex"}


@pytest.mark.parametrize(
    "source",
    [
        'echo "${x:-"a b"}" "${x%\'"\'}" ${x:+\'y\'}',
        'sed -n "${i}p" "$1"; i=$((i + 1))',
        'f=$1; sort "$f"; sort -t, -k1 -- "$f" | uniq -c',
        'm=(1 2); declare -A n=([$k]=1); echo "${m[$i]}" "${n[$k]}"',
        "[[ -v m[$k] ]]",
        "((m[$k]++)) || true",
        'g() { local -n out=$1; out=5; }; g result; echo "$result"',
        'exec 3>&2 4>&3; echo x >&4; exec {fd}<"$1"; read -r l <&"$fd"',
        'coproc J { jq . ; }; echo x >&"${J[1]}"',
        'cat <<-E\n\t$(jq . "$1")\n\tE',
        'IFS=, read -ra parts <<< "$line"; printf -v out "%s" "${parts[@]}"',
        'tar -xOf "$1" | gzip -dc | tar tf -',
        "curl -so /dev/null https://example.org",
        'find . -name "*.x" -exec grep -c x {} +',
        "xargs -0 -n1 printf '%s\\n'",
        "trap 'echo done >&2' EXIT; trap cleanup INT; cleanup() { :; }",
        'env LC_ALL=C nice -n 5 timeout 5 sort "$1"',
        "PS4='+ ${LINENO}: '; set -x",
        'jq . "$1" 2>&- >/dev/null',
    ],
)
def test_what_an_evaluator_needs_is_not_refused(source):
    assert _errors(source) == []


# --- programs with options that write or run ------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        # network
        "curl -O https://example.org/x",
        "curl --dump-head h https://example.org",
        "curl -K config",
        "curl -w @format https://example.org",
        'curl -w "$format" https://example.org',
        'curl "$(cat x)"',
        "curl --unheard-of https://example.org",
        "wget https://example.org",
        "wget -q -O page https://example.org",
        "gh run download 5",
        "gh repo clone a/b",
        "gh api --cache 1h repos/a/b",
        "gh run view 5 --log",
        'gh "$x" list',
        "gh unheard view",
        "git clone x",
        "git diff --ext-diff",
        "git grep -Oless x",
        'git log "$(jq -r .x "$1")"',
        'git "$x"',
        "git --exec-path=x log",
        "git config a.b c",
        "nc -e sh host 1",
        'nc "$(jq -r .x "$1")" 1',
        # archives
        "tar -cf x y",
        "tar xf x",
        "tar -tf host:x",
        'tar -tf "$(jq -r .x "$1")"',
        "tar -tf x --checkpoint-action=exec=y",
        "unzip x",
        "unzip -p -o x",
        "gzip x",
        "xz --compress x",
        "bunzip2 x",
        "zstd -c x -o y",
        # others
        "find . -delete",
        "find . -fprintf x %p",
        "find . -unheard",
        'find . "$(jq -r .x "$1")"',
        'find . -name "$@"',
        "find . -exec rm {}",
        "dd if=x of=y",
        'dd "$(cat x)"',
        "date -s now",
        "date 01010000",
        "xxd x y",
        'xxd "$(cat x)"',
        "openssl rand 5",
        "openssl dgst -out x y",
        'openssl dgst "$(cat x)"',
        "rg --pre cat x",
        'rg "$(cat x)"',
        "xmllint --output x y",
        "dc -e '!ls'",
        "dc x",
        "yq -i . x",
        "yq --split-exp .a x",
        "jaq --in-place . x",
        "tee x",
        'tee "$x"',
        "uniq x y",
        "uniq $x",
        "shuf -o x",
        "iconv --outp=x y",
        "file -C",
        "hostname x",
        "tree -o x",
        "sort --compress-program=x y",
        "env -S ls",
        "env LD_PRELOAD=x ls",
        "env --unheard ls",
        "xargs",
        'xargs -I "$x" ls',
        "xargs -I{} {} x",
        "xargs -i touch {}",
        'timeout "$(cat x)" ls',
        "time -o x ls",
        "sed -f x",
        "sed -n --in-place p x",
        "awk -f x",
        "gawk -o x",
        'awk "$x"',
        # builtins
        "exec -z ls",
        "command -z ls",
        'printf "$(cat x)" a b',
        'printf -v "$x" a',
        "printf -v PATH a",
        "printf -vPATH a",
        "getopts a PATH",
        "mapfile PATH",
        'mapfile -t "$x"',
        "wait -p PATH",
        'wait -"$x"',
        "unset -z x",
        "hash -p x y",
        'hash "$(cat x)"',
        "alias x=y",
        "enable -n x",
        "shopt -so posix",
        'shopt -s "$x"',
        "set -o vi",
        'set "$(cat x)"',
        "set -Z",
        "compgen -F x",
        "complete -F x y",
        "bind x",
        "'let' PATH=1",
        "'let' 'a[`x`]'",
        "'declare' 'a[`x`]=1'",
        "'declare' \"PATH=$x\"",
        "'export' \"$x\"",
        "'local' -n \"x=$y\"",
        "nameref x=y",
        "declare -i x='a[$y]'",
        "declare -n x=$y",
        "declare -n x=a[1]",
        "f() { declare -n x=${1%a}; }; f b",
        'f() { declare -n x=$1; }; f "$y"',
        "f() { declare -n x=$1; }; f PATH",
        'f() { declare -n x=$2; }; f "$@" y',
        "test -v 'a[`x`]'",
        'test -v "$x"',
        "[[ -v $x ]]",
    ],
)
def test_a_command_that_may_write_or_run_something_is_refused(command):
    assert _codes(command) & {_WRITE, _DYNAMIC}


@pytest.mark.parametrize(
    "command",
    [
        "curl -fsSL --retry 3 -H a:b https://example.org",
        "curl -so- https://example.org -w '%{http_code}'",
        "wget -qO- https://example.org",
        "gh pr view 5 --json title",
        "gh auth status",
        "git --no-pager -C x log --oneline -- y",
        "git --version",
        "git",
        "git config --get a.b",
        "nc -zv host 1",
        "tar -tzf x",
        "tar --list --file x",
        "tar --help",
        "unzip -p x",
        "gzip -dc x",
        "gunzip < x",
        "xz -l x",
        "zstd --stdout x",
        "find . -maxdepth 1 -newermt 2020-01-01 -print0",
        "dd if=x bs=1 status=none",
        'dd "if=$1"',
        "date +%s",
        "date -u -d @0 +%F",
        "xxd -c 8 x",
        "xxd -",
        "openssl dgst -sha256 x",
        "rg -n x -- y",
        "xmllint --xpath //a x",
        "dc -e '1 2 + p'",
        "yq -r .a x",
        "tee",
        "tee -a /dev/stderr",
        "tee >(cat)",
        "uniq -c x",
        "shuf -n 1 x",
        "iconv -f latin1 x",
        "file -b x",
        "hostname",
        "tree -L 1",
        "env",
        "env - A=b ls",
        "xargs -d '\\n' -L1 echo",
        "xargs -I{} echo {}",
        "timeout 5 ls",
        "nohup ls",
        "sed --version",
        "awk --version",
        "awk -v x=1 -F: '{ print x }' y",
        "exec ls",
        "command -V ls",
        "builtin -- echo x",
        "printf '%s' \"$x\"",
        'printf "$x"',
        'printf "$x: %s" y',
        "printf",
        "getopts ab: x",
        "mapfile -t x < y",
        "wait -n",
        "unset x y",
        "unset -f x",
        "hash -r",
        "alias -p",
        "enable -p",
        "shopt -s nullglob",
        "shopt",
        "shopt -so pipefail",
        "set -euo pipefail",
        "set +x",
        "set",
        'set -- "$@"',
        "set a b",
        "history",
        "history -c",
        "jobs -l",
        "compgen -v",
        "declare -f x",
        "declare -x x=1 y",
        "export x y=2",
        "local -r x=1",
        "f() { declare -n x=$1; }; f y",
        "test -v x -a -n y",
        "[[ -v x && -v y[1] ]]",
        "trap -p",
        "trap - EXIT",
        "trap '' INT",
        "trap 2",
        "let x=1+2 y++",
        "command let 'x = 1'",
    ],
)
def test_a_command_that_only_prints_is_not_refused(command):
    assert not _errors(command)


# --- warnings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("request=$(cat)", "grader-shell-legacy-stdin"),
        ("read -r line", "grader-shell-legacy-stdin"),
        ("jq -r .type", "grader-shell-legacy-stdin"),
        ("input=$(</dev/stdin)", "grader-shell-legacy-stdin"),
        ('jq .event.number "$1"', "grader-shell-legacy-request"),
        ("jq -r '.outputs[0]' \"$1\"", "grader-shell-legacy-request"),
        ("gh api repos/a/b", "grader-shell-fetch"),
        ("git log -1", "grader-shell-fetch"),
        ("grep -rn TODO .", "grader-shell-checkout-scan"),
        ("cat README.md", "grader-shell-checkout-scan"),
        ("unheard_of x", "grader-shell-unknown-command"),
    ],
)
def test_what_an_author_may_not_have_meant_is_a_warning(source, code):
    assert _warnings(source) == {code}
    assert not _errors(source)


@pytest.mark.parametrize(
    "source",
    [
        'jq .data.run "$1" | cat',
        "jq '{run: .data, event: .type}' \"$1\"",
        'while read -r line; do :; done < "$1"',
        'f() { cat; }; f < "$1"',
        "jq -n '1'",
        "curl --version",
        'cat "$1"; cat /dev/null',
    ],
)
def test_what_an_author_means_is_no_warning(source):
    assert _warnings(source) == set()


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    ["(" * 5000, "{ " * 5000, "echo " + "$(" * 200 + ")" * 200, "true && " * 5000 + "true"],
)
def test_a_script_that_is_nested_without_end_is_refused(source):
    assert _codes(source) & {"grader-shell-too-complex", "grader-shell-syntax"}


def _ordinary():
    block = """
count_{} () {{
  local kind=$1 total=0 line
  while IFS= read -r line; do
    if [[ $line == *"$kind"* ]]; then total=$((total + 1)); fi
  done < <(jq -c 'select(.type == "tool.execution_start") | .data' "$session_file")
  printf '%s\\n' "${{total:-0}}"
}}
value=$(count_{} "a" | sort -u | head -n 1)
case $value in '' | null) value=0 ;; [0-9]*) ((sum += value)) || true ;; esac
awk -F'\\t' '$3 > 10 {{ n++ }} END {{ print n + 0 }}' "$1" | sed -n '1,5p'
"""
    text = "session_file=$1\n"
    number = 0
    while len(text) + len(block) < 65_000:
        text += block.format(number, number)
        number += 1
    return text


@pytest.mark.parametrize(
    "source",
    [
        _ordinary(),
        "touch y\n" * 8000,
        "sort " + "$x " * 20_000,
        "echo " + "[" * 60_000,
        "echo " + "{," * 30_000,
        "".join(f"a{at}=$a{at + 1}\n" for at in range(3500)),
        "".join(f"exec {at}>&{at + 1}\n" for at in range(3, 3500)),
        "# " * 30_000 + "\\\n",
        "awk '" + "/[" * 30_000 + "'",
        "cat <<E\n" + "E\\\n" * 18_000 + "\nE\n",
    ],
    ids=lambda source: source[:12].split("\n")[0],
)
def test_the_largest_script_is_read_quickly(source):
    before = time.process_time()
    analyse_bash(source.encode())

    assert time.process_time() - before < _SECONDS * _SHARE_OF_A_BUSY_MACHINE


# --- tables ---------------------------------------------------------------------------------------


def test_every_known_command_is_a_plain_name():
    assert [name for name in MODELS if "/" in name or not name] == []


def test_names_with_a_version_are_known_by_their_family():
    assert is_known("python3.11")
    assert not is_known("pythonic")


def test_doubtful_bytes_are_told_where_they_stand():
    (found,) = find_doubts("é\recho\n".encode())

    assert (found.line, found.column) == (1, 3)
    assert list(find_doubts(b"echo 'a' | cat &&\\\ntrue\n")) == []


# --- the parser and its tree ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("exit 3", "status 3"),
        ("echo nonsense", "no JSON"),
        ("echo '{}'", "no syntax tree"),
        ("echo '{\"Stmts\": 5}'", "a list that is none"),
    ],
)
def test_a_parser_that_does_not_work_is_no_approval(program, told, monkeypatch, tmp_path):
    broken = tmp_path / "shfmt"
    broken.write_text(f"#!/bin/sh\ncat >/dev/null\n{program}\n")
    broken.chmod(0o755)
    monkeypatch.setattr("aw_graders.analysis.bash.parser._program", lambda: broken)

    with pytest.raises(ParserMissingError, match=told):
        check_parser()


def test_a_parser_that_cannot_be_started_is_no_approval(monkeypatch, tmp_path):
    monkeypatch.setattr("aw_graders.analysis.bash.parser._program", lambda: tmp_path / "none")

    with pytest.raises(ParserMissingError, match="pip install shfmt-py"):
        check_parser()
    with pytest.raises(ParserMissingError, match="pip install shfmt-py"):
        analyse_bash(b"true\n")


def test_a_parser_that_is_not_installed_is_no_approval(monkeypatch):
    monkeypatch.setattr("aw_graders.analysis.bash.parser._NAME", "no-such-program")

    with pytest.raises(ParserMissingError, match="it is not in"):
        check_parser()


def test_a_parser_that_fails_over_one_script_makes_it_too_complex(monkeypatch, tmp_path):
    fails = tmp_path / "shfmt"
    real = parser_program()
    fails.write_text(
        f'#!/bin/sh\ntext=$(cat)\ncase $text in *bad*) exit 9 ;; esac\necho "$text" | {real} "$@"\n'
    )
    fails.chmod(0o755)
    monkeypatch.setattr("aw_graders.analysis.bash.parser._program", lambda: fails)

    assert _codes("echo bad") == {"grader-shell-too-complex"}


def test_a_tree_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("aw_graders.analysis.bash.parser._OUTPUT_BYTES", 1000)

    assert _codes("echo a\n" * 50) == {"grader-shell-too-complex"}


def test_a_fault_of_syntax_is_told_at_its_place():
    (found,) = _errors('é="ä"; if true')

    assert (found.line, found.column, found.code) == (1, 8, "grader-shell-syntax")


_PLACE = {"Line": 2, "Col": 3, "Offset": 9}


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"Stmts": [{"Cmd": {"Type": "Unheard", "Pos": _PLACE}}]}, "kind Unheard"),
        ({"Stmts": [{"Pos": _PLACE, "Unheard": True}]}, "field Unheard"),
        ({"Stmts": [{"Cmd": {"Type": "BinaryCmd", "Op": "|||", "Pos": _PLACE}}]}, "operator"),
    ],
)
def test_what_the_tables_do_not_list_is_refused_at_its_place(document, told):
    with pytest.raises(UnknownSyntaxError, match=told) as raised:
        build(document)

    assert (raised.value.line, raised.value.column) == (2, 3)


def test_a_text_that_is_neither_text_nor_flag_is_refused():
    with pytest.raises(UnknownSyntaxError, match="neither text nor flag"):
        build({"Stmts": [{"Negated": 5}]})


def test_nodes_without_end_are_refused():
    document = {}
    for _ in range(500):
        document = {"Type": "ParenTest", "X": document}

    with pytest.raises(TooDeepError):
        build({"Stmts": [{"Cmd": document}]})


# --- bytes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "code", "place"),
    [
        (b"#!/bin/sh\n", "grader-shell-shebang", (1, 1)),
        (b"echo\n", "grader-shell-shebang", (1, 1)),
        (b"#!/usr/bin/env bash", "grader-shell-shebang", (1, 1)),
        (b"#!/usr/bin/env bash\r\n", "grader-shell-shebang", (1, 1)),
        (b"#!/usr/bin/env bash -e\n", "grader-shell-shebang", (1, 1)),
        (b"\xef\xbb\xbf#!/bin/bash\n", "grader-shell-shebang", (1, 1)),
        (b"#!/bin/bash\n\xc3\xa9\xff\n", "grader-shell-not-utf8", (2, 2)),
        (b"#!/bin/bash\necho \0\n", "grader-shell-not-utf8", (2, 6)),
        (b"#!/bin/bash\n" + b"#" * 65_536, "grader-shell-too-large", (1, 1)),
    ],
)
def test_bytes_that_are_no_evaluator_are_told_at_their_place(source, code, place):
    (found,) = check_evaluator_bytes(source)

    assert (found.code, (found.line, found.column)) == (code, place)
    assert found.hint


def test_what_cannot_be_read_is_not_parsed():
    assert [one.code for one in analyse_bash(b"rm \xff").findings] == ["grader-shell-not-utf8"]


@pytest.mark.parametrize("first", [b"#!/bin/bash", b"#!/usr/bin/env bash", b"#!/opt/x/bin/bash"])
def test_a_bash_shebang_is_one(first):
    assert check_evaluator_bytes(first + b"\necho\n") == ()


def test_only_so_many_traps_are_read():
    source = "".join(f"trap 'echo {at}' EXIT\n" for at in range(60))

    assert _codes(source) == {_DYNAMIC}


@pytest.mark.parametrize(
    "source",
    [
        "trap 'if' EXIT",
        "trap 'x=${ ls; }' EXIT",
        'exec 3>&1; echo x >&"${a[0]}"',
        "exec {fd}>&1; exec 12>&1; echo x >&12",
        "coproc cat; exec 12>&1; echo x >&12",
        "echo x >& y",
        'echo x >& "$y"',
        "echo x > /dev/tcp/a/1",
        'cat < "/dev/tcp/$x/1"',
        "x=/dev/tcp/a/1",
        "cat <<$'E'\nx\nE",
        "echo $(( $(cat <<E\nE\n) ))",
        "echo `echo \\\\$x`",
        "v=([$k]=1)",
        "let 'PATH=1'",
        "(( 'PATH=1' ))",
        'coproc "$x" y',
        "coproc PATH { cat; }",
        "[[ x == +(`y`) ]]",
        "for x in 'a[`y`]'; do :; done",
        ": ${x:='`y`'}",
        "sort ${x//a/-}",
        'x=${y:1}; sort "$x"; y=a-o',
        'sort "${x[@]}"',
        "sort --out$x y",
        "sort -k$x y; x=$(cat z)",
        "sort -k $x y",
        'sort -u"$x" y',
        "sed -n 's\\n'",
        "sed 's'",
        "sed -n '1{bx}a\\\nw y'",
        "sed 5",
    ],
)
def test_a_corner_is_closed(source):
    assert _errors(source)


@pytest.mark.parametrize(
    "source",
    [
        "v=([1]=a [i]=b [i+1]=c [$((i + 1))]=d)",
        'echo "${x/a/\'$(b)\'}" "${!#}" "${!p@}" "${!a[@]}" "${x@Q}"',
        "exec {fd}>&1; echo x >&$fd; exec {fd}>&-",
        "exec 3>/dev/null 4>&3; echo x >&4",
        'coproc cat; echo x >&"${COPROC[1]}"',
        'sort "${1%/}" "${1:-x}" "${y:+z}" "${1^}"',
        'sort "$PWD/$x" a"$x" \'b\'"$1"',
        'for f; do cat "$f"; done',
        "select x in a b; do break; done <<< 1",
        'sed -n "$((i + 1)),${#x}p" "$1"',
        "echo ${x:-'a b'}{1,2}'c'* \"$*\"",
        "echo a >&2-; echo b 3>&1-",
        "sed '/a/{N;ba};p' x",
    ],
)
def test_a_corner_that_writes_nothing_is_not_refused(source):
    assert not _errors(source)
