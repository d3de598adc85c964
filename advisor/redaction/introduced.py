"""Credentials that a word or a line introduces: private keys, JAAS, Bearer, Basic, curl -u, IDENTIFIED BY."""

from __future__ import annotations

from typing import Final

from advisor.redaction.rules import NOT_YET, Tried, applied, rule

_CHARACTER: Final = r"[^\s\"'()\[\]{}<>,;:]"
# Beside a word that also stands in prose: with two digits and both cases, as what was drawn by chance has.
_DRAWN: Final = (
    rf"{NOT_YET}(?=(?:(?!\d){_CHARACTER}){{0,100}}\d(?:(?!\d){_CHARACTER}){{0,100}}\d)(?=(?:(?![a-z]){_CHARACTER}){{0,100}}[a-z])"
    rf"(?=(?:(?![A-Z]){_CHARACTER}){{0,100}}[A-Z])(?!/){_CHARACTER}{{8,}}"
)
_SECRET: Final = (
    r"pass(?:w(?:or)?[dt]|\s?phrase)|\bpwd?|secret(?:[ ._-]?key)?|token|(?:a(?:pi|ccess|ccount)|encryption)[ ._-]?key"
)
# What may stand between such a word and its credential: " for me is ", " ~ ", "', '".
_BETWEEN: Final = (
    r"(?:(?:\s(?:for|of)(?:\s(?:key|user))?\s[^\s:]{1,60}(?=\sis\b|\swas\b|:))?(?:\s(?:is|was|provided))?:?\s{1,9}"
    r"|\s{0,9}(?:~>?|>>|<-|[|;])\s{0,9}|\\{0,7}[\"'],\s?(?=\\{0,7}[\"']))"
)
# Calls that take a credential as a later argument: new PasswordAuthentication("me", "...").
_CALL: Final = (
    r"Creds?|Credentials?|Password(?:\w{0,20}Auth|Token)|BasicAuth|Plain(?:Text)?Auth|SaslPlain|AuthTokens|(?:get|create)Connection|\blogin"
    r"|\bauthenticate|\bsecrets\.put"
)
_TEXT: Final = r"(?:\"(?:[^\"\\]|\\.){0,300}\"|'(?:[^'\\]|\\.){0,300}')"
_ARGUMENT: Final = rf"(?:{_TEXT}|[^\s\"'(),]{{1,200}})"
_OF_FORMS: Final = r"(?i:accounts?|and|auth|failed|failure|logout|pages?|register|role|sign\w*|success|user(?:name)?s?)"
_OF_OUTCOMES: Final = r"(?i:(?:fail|log|regist|sign|succe)\w*|auth|callback|denied|error|form|html|or|page|sso)\b"
_OF_HOST: Final = r"(?:[\w-]{1,63}\.){1,8}[a-z]{2,63}(?![\w.-])"
"""What stands behind a slash beside "login" and is no password: the host of a Kerberos principal, an outcome."""
_OF_PGPASS: Final = r":(?:\d{2,5}|\*):[\w*-]{1,63}:[\w.*-]{1,63}:"
_USER: Final = rf"{NOT_YET}[\w.@-]{{1,100}}:"
_OF_USER: Final = rf"(?:(?<=\"){_USER}[^\"]{{1,200}}(?=\")|(?<='){_USER}[^']{{1,200}}(?=')|{_USER}[^\s\"']+)"
"""A user and a password of a command line; between quotes it may be several words."""
_OF_PROSE: Final = r"auth\w*|credentials?|error|header|is|method|realm|scheme|tokens?|was"
_RULES: Final = Tried((
    rule("private key", r"-{4,5}\s?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-{4,5}"
         r".*?(?:-{4,5}\s?END [A-Z0-9 ]{0,60}-{4,5}|$)"),
    # PuTTY's file of a key, of which the half that is secret may stand alone
    rule("private-lines", rf"(Private-Lines:\s{{0,3}}\d{{1,5}}\s{{1,9}}){NOT_YET}.*?(?=Private-(?:MAC|Hash)|$)"),
    # a JAAS configuration is a sentence of its own that ends in a semicolon
    rule("loginmodule", r"(?<![\w.$])[\w.$]{0,200}LoginModule\s{1,3}(?:required|requisite|sufficient|optional)\b"
         r"(?:\s{1,9}[\w.]{1,100}\s?=\s?(?:\"(?:[^\"\\]|\\.)*\"|\\{1,7}\"[^\"]*\"|'[^']*'|[^\s;]+))*\s?;?"),
    rule("bearer", rf"(?i:(\bBearer\s{{1,3}})(?!(?:{_OF_PROSE})\b))(?![a-z]{{1,20}}(?![\w.~+/=-]))[\w.~+/=-]{{6,}}"),
    rule("digest", r"((?i:\bDigest\s)[^\n]{0,300}?\bresponse=\"?)[0-9a-fA-F]{16,}"),
    rule("fs.azure.account.key.", rf"(fs\.azure\.account\.key\.[\w.\-]{{1,200}}\s{{1,9}}){NOT_YET}[\w+/=]{{8,}}"),
    # withPassword(...)
    rule(("password(", "apikey(", "token(", "secret("), rf"((?i:password|api_?key|token|secret)\(){_DRAWN}"),
    rule("basic", r"(\b(?:Basic\s{1,3}|[bB]asic[\"']?[:=]\s?[\"']?))"
         r"(?=[A-Za-z]{0,200}(?:[0-9=]|[a-z][A-Z]))[\w+/=-]{8,}"),
    rule("-u", rf"((?<![\w-])(?:-u|--user|--proxy-user)[\s=]{{0,3}}[\"']?){_OF_USER}"),
    # also to a proxy, and behind other letters: curl -sSU me:...
    rule("curl", r"((?i:\bcurl)\s[^\n|&]{0,300}?(?<=\s)-[a-zA-Z]{0,6}[uU][\s=]{0,3}[\"']?)"
                 + _OF_USER),
    # clients of databases and registries
    rule("-p", rf"((?<![\w-])(?:mysql|mariadb)\w*[^\n|&]{{0,300}}?\s-p)(?=\S){NOT_YET}(?:\"[^\"]*\"|'[^']*'|\S+)"),
    rule(" -", r"((?<![\w-])(?:(?:docker|podman|az|oc|helm registry) login|sqlcmd|bcp|mongo\w*|redis-cli|sqlplus)"
               rf"\s[^\n|&]{{0,300}}?(?<=\s)-(?:[pP]|a)\s{{1,3}}){NOT_YET}(?:\"[^\"]*\"|'[^']*'|\S+)"),
    rule("identified", r"((?:IDENTIFIED|(?i:(?:(?:create|alter)\s{1,3}user|\bto)\s{1,3}\S{1,100}\s{1,3}identified))"
                       r"(?:\s{1,3}(?i:with)\s{1,3}\w{1,60})?\s{1,3}(?i:by)(?:\s{1,3}(?i:password|values))?\s{1,3})"
                       rf"{NOT_YET}(?:'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[^\s;,]+)"),
    rule(("cred", "auth", "passwordtoken", "saslplain", "connection(", "login", "secrets.put"),
         rf"((?i:{_CALL})\w{{0,30}}(?:\.\w{{1,30}})?\(\s?(?:{_ARGUMENT},\s?){{1,4}}?)"
         rf"(?:{_TEXT}(?:,\s?{_ARGUMENT})*|{_DRAWN})"),
    # netrc, spark-defaults.conf, a sentence, a list
    rule(("passw", "phrase", "secret", "token", "key", "pw"),
         rf"((?i:{_SECRET}){_BETWEEN}\\{{0,7}}[\"'\[(]?){_DRAWN}"),
    # a path in which the credential is the last part, an account and its password, a key of a database
    rule(("secret/", "password/", "token/"), rf"((?<![\w.-])(?i:secret|password|token)/){_DRAWN}"),
    rule(("login", "logon", "sqlplus"),
         rf"((?i:\blogin|\blogon|\bsqlplus)\s{{1,3}}(?:-\w{{1,9}}\s{{1,3}})?(?!{_OF_FORMS}/)[\w.@-]{{1,64}}/)"
         rf"{NOT_YET}(?!{_OF_OUTCOMES}|{_OF_HOST})[^\s\"'()\[\]{{}}<>,;:/@]{{3,200}}(?![\w/@])"),
    rule("logon", r"(\.logon\s{1,3}[\w.-]{1,64}/[\w.-]{1,64},)[^\s;]+"),
    rule(("connect", "cred", "user"), rf"((?i:\bconnect|\bcredentials?|\buser)\s{{1,3}}[\w.-]{{1,64}}[/:]){_DRAWN}"),
    rule(":", rf"((?<![\w.:-])[\w.*-]{{1,100}}{_OF_PGPASS}){_DRAWN}", probe=_OF_PGPASS),
    rule("with key", rf"((?i:\bwith\skey)\s{{1,3}}[\"']?){_DRAWN}"),
    rule("echo", rf"((?i:\becho)\s{{1,3}}[\"']?){NOT_YET}[^\s|\"']{{1,200}}"
                 r"(?=[\"']?\s?\|\s?(?:kinit|sudo -S|docker login))"),
    # a session's key, and no object of Java's or id by which its events are found
    rule("session", r"((?<![a-zA-Z0-9.])(?i:session(?:_?id)?)[\"']?\s?[=:]\s?[\"']?)"
         rf"(?=[\w+/~-]{{8,200}}={{0,2}}(?![\w.@$+/=~-])){_DRAWN}"),
    # the numbers of a JSON web key that are secret
    rule("kty", rf"(\\{{0,7}}[\"'](?:d|dp|dq|k|p|q|qi)\\{{0,7}}[\"']\s?:\s?\\{{0,7}}[\"']){NOT_YET}[\w+/=-]{{8,}}"),
    rule("hook", rf"((?i:/web-?hooks?/)){_DRAWN}"),
    rule("sshpass", rf"(\bsshpass\s{{1,3}}-p\s{{0,3}}){NOT_YET}\S+"),
))  # fmt: skip


def hide_introduced(text: str) -> str:
    """`text` without the credentials that the words before them show."""
    return applied(_RULES, text)
