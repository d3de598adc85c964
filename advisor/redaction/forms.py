"""Rules that hide credentials by the words before them, in addresses, and by their own form.

Every repetition in a rule ends where it fails, or is bounded, so that the time grows as the length of a text does.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

REDACTED: Final = "*********(redacted)"
"""What stands in the place of a credential; the words that Spark itself prints."""
NOT_YET: Final = r"(?!\*{9}\(redacted\))"
"""Redacting twice changes nothing."""


class Rule(NamedTuple):
    """A pattern, tried where a text holds one of `needs` in lower case, and what its match becomes."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    becomes: str


def rule(needs: str | tuple[str, ...], pattern: str, then: str = "") -> Rule:
    """Return a rule that hides what stands after group 1 of the pattern, if it has one, and before `then`."""
    compiled = re.compile(pattern, re.DOTALL)
    becomes = (r"\1" if compiled.groups else "") + REDACTED + then
    return Rule((needs,) if isinstance(needs, str) else needs, compiled, becomes)


def applied(rules: tuple[Rule, ...], text: str) -> str:
    """Return `text` without the credentials that the rules know."""
    lowered = text.lower()
    for needs, pattern, becomes in rules:
        for word in needs:  # any() takes three times as long, for each rule and line
            if word in lowered:
                text = pattern.sub(becomes, text)
                break
    return text


_CHARACTER: Final = r"[^\s\"'()\[\]{}<>,;:]"
# Beside a word that also stands in prose: with two digits and both cases, as what was drawn by chance has.
_DRAWN: Final = (
    rf"{NOT_YET}(?=(?:(?!\d){_CHARACTER}){{0,100}}\d(?:(?!\d){_CHARACTER}){{0,100}}\d)(?=(?:(?![a-z]){_CHARACTER}){{0,100}}[a-z])"
    rf"(?=(?:(?![A-Z]){_CHARACTER}){{0,100}}[A-Z])(?!/){_CHARACTER}{{8,}}"
)
_SECRET: Final = (
    r"pass(?:w(?:or)?[dt]|\s?phrase)|\bpwd?|requirepass|masterauth|secret(?:[ ._-]?key)?|token"
    r"|(?:a(?:pi|ccess|ccount)|encryption)[ ._-]?key"
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
_TEXT: Final = (
    r"(?:\"(?:[^\"\\]|\\.){0,300}\"|'(?:[^'\\]|\\.){0,300}'"
    r"|\\{1,7}[\"'](?:[^\"'\\]|\\{1,7}\w){0,300}\\{1,7}[\"']|&quot;(?:[^&]|&(?!quot;)){0,300}&quot;)"
)
_ARGUMENT: Final = rf"(?:{_TEXT}|[^\s\"'(),]{{1,200}})"
_OF_FORMS: Final = r"(?i:accounts?|and|auth|failed|failure|logout|pages?|register|role|sign\w*|success|user(?:name)?s?)"
_OF_OUTCOMES: Final = r"(?i:(?:fail|log|regist|sign|succe)\w*|auth|callback|denied|error|form|html|or|page|sso)\b"
_OF_HOST: Final = r"(?:[\w-]{1,63}\.){1,8}[a-z]{2,63}(?![\w.-])"
"""What stands behind a slash beside "login" and is no password: the host of a Kerberos principal, an outcome."""
_OF_PGPASS: Final = r":(?:\d{2,5}|\*):[\w*-]{1,63}:[\w.*-]{1,63}:"
_USER: Final = rf"{NOT_YET}(?!jdbc:)[\w.@-]{{1,100}}:"
_OF_USER: Final = rf"(?:(?<=\"){_USER}[^\"]{{1,200}}(?=\")|(?<='){_USER}[^']{{1,200}}(?=')|{_USER}[^\s\"']+)"
"""A user and a password of a command line; between quotes it may be several words."""
_WORD: Final = rf"{NOT_YET}(?:\"[^\"]*\"|'[^']*'|\S+)"
_CLIENTS: Final = (
    r"(?:docker|podman|az|oc|helm registry) login|sqlcmd|bcp|mongo\w*|redis-cli|sqlplus|beeline|cqlsh|ldap\w{3,9}"
)
"""Clients that take a password behind -p, -P, -a or -w."""
_OF_PROSE: Final = r"auth\w*|credentials?|error|header|is|method|realm|scheme|tokens?|was"
INTRODUCED: Final = (
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
    # a pair with a comma
    rule("fs.azure.", rf"(fs\.azure\.(?:account\.(?:key|oauth2\.client\.secret)|sas)\.[\w.\-]{{1,200}}"
                      rf"(?:,\s{{0,3}}|\s{{1,9}})[\"']?){_DRAWN}"),
    # withPassword(...)
    rule(("password(", "apikey(", "token(", "secret("), rf"((?i:password|api_?key|token|secret)\(){_DRAWN}"),
    rule("basic", r"(\b(?:Basic\s{1,3}|[bB]asic[\"']?[:=]\s?[\"']?))"
         r"(?=[A-Za-z]{0,200}(?:[0-9=]|[a-z][A-Z]))[\w+/=-]{8,}"),
    rule("-u", rf"((?<![\w-])(?:-u|--user|--proxy-user)[\s=]{{0,3}}[\"']?){_OF_USER}"),
    # also to a proxy, and behind other letters: curl -sSU me:...
    rule("curl", r"((?i:\bcurl)\s[^\n|&]{0,300}?(?<=\s)-[a-zA-Z]{0,6}[uU][\s=]{0,3}[\"']?)"
                 + _OF_USER),
    # clients of databases and registries
    rule("-p", rf"((?<![\w-])(?:mysql|mariadb|7z)\w*[^\n|&]{{0,300}}?\s-p)(?=\S){_WORD}"),
    rule(" -", rf"((?<![\w-])(?:{_CLIENTS})\s[^\n|&]{{0,300}}?(?<=\s)-[pPaw]\s{{1,3}}){_WORD}"),
    rule(" -p", rf"((?<![\w-])(?:un)?zip\s[^\n|&]{{0,300}}?(?<=\s)-P\s{{1,3}}){_WORD}"),
    rule("net ", r"((?i:\bnet\s{1,3}use\s{1,3}(?:[a-z*]:?\s{1,3})?)\\{2,8}[^\s\"']{1,200}\s{1,3})(?![/*])" + _WORD),
    rule("net ", r"((?i:\bnet\s{1,3}user\s{1,3})[\w.-]{1,64}\s{1,3})(?=\S{1,100}\s{1,3}/)(?![/*])" + _WORD),
    rule("credstash", r"(\bcredstash\s{1,3}(?:-\S{1,60}\s{1,3}){0,4}put\s{1,3}[\w./-]{1,200}\s{1,3})" + _WORD),
    rule("htpasswd", rf"(\bhtpasswd\s{{1,3}}-[a-zA-Z]{{0,9}}\s{{1,3}}\S{{1,200}}\s{{1,3}}\S{{1,100}}\s{{1,3}}){_WORD}"),
    rule("%", rf"(\s-U\s{{0,3}}[\"']?[\w.\\/-]{{1,64}}%){NOT_YET}[^\s\"']+"),
    rule("-value", r"((?i:secret|passw|token|credential|put-parameter|keyvault)[^\n|&]{0,300}?"
                   rf"\s--?(?:string-)?value\s{{1,3}}){_WORD}"),
    rule("curl", r"((?i:\bcurl)\s[^\n|&]{0,300}?(?<=\s)(?:-b|--cookie)[\s=]{1,3}[\"']?)"
                 rf"(?=[^\s\"']{{1,60}}=){NOT_YET}[^\"'\n]+"),
    rule("vault", r"(\bvault\s{1,3}(?:login|unwrap|operator\s{1,3}unseal)\s{1,3}(?:-\S{1,60}\s{1,3}){0,3})" + _DRAWN),
    rule(("vault", "from-literal"),
         r"(\bvault\s{1,3}(?:kv\s{1,3})?(?:write|put|patch)\s[^\n|&]{0,300}?\bvalue="
         rf"|--from-literal[\s=][\"']?value=){_WORD}"),
    rule("ssh-keygen", rf"(\bssh-keygen\s[^\n|&]{{0,300}}?(?<=\s)-[NP]\s{{0,3}})(?!\"\"|''){_WORD}"),
    rule("securestring", rf"(SecureString\s{{1,3}}(?:-String\s{{1,3}})?[\"']){NOT_YET}[^\"']{{1,200}}"),
    # protocols: what stands behind the scheme, of SASL, of Redis, of OAuth
    rule("sharedkey", rf"(\bSharedKey(?:Lite)?\s{{1,3}}[\w.-]{{1,64}}:){NOT_YET}[\w+/=]{{8,}}"),
    rule("hmac", rf"((?i:\bhmac[\w-]{{0,30}})\s{{1,3}}[\w.-]{{1,64}}:){NOT_YET}(?=\D{{0,100}}\d)[\w+/=-]{{16,}}"),
    rule(("negotiate", "ntlm", "kerberos"), rf"(\b(?:Negotiate|NTLM|Kerberos)\s{{1,3}}){NOT_YET}[\w+/=]{{24,}}"),
    rule("scram-sha", rf"(SCRAM-SHA-\d{{1,3}}\$\d{{1,9}}:[\w+/=]{{1,100}}\$){NOT_YET}[\w+/=:]{{16,}}"),
    rule("auth", rf"(\bAUTH[\"']?\s{{1,3}}(?:[\"']?[\w-]{{1,64}}[\"']?\s{{1,3}})?[\"']?){_DRAWN}"),
    rule("authorization_code", rf"(\bcode\W{{1,6}}){NOT_YET}[\w/.~+-]{{16,}}"),
    rule("identified", r"((?:IDENTIFIED|(?i:(?:(?:create|alter)\s{1,3}user|\bto)\s{1,3}\S{1,100}\s{1,3}identified))"
                       r"(?:\s{1,3}(?i:with)\s{1,3}\w{1,60})?\s{1,3}(?i:by)(?:\s{1,3}(?i:password|values))?\s{1,3})"
                       rf"{NOT_YET}(?:'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(?:&\w{{4}};)?[^\s;,]+)"),
    rule(("cred", "auth", "passwordtoken", "saslplain", "connection(", "login", "secrets.put"),
         rf"((?i:{_CALL})\w{{0,30}}(?:\.\w{{1,30}})?\(\s?(?:{_ARGUMENT},\s?){{1,4}}?)"
         rf"(?:{_TEXT}(?:,\s?{_ARGUMENT})*|{_DRAWN})"),
    # netrc, spark-defaults.conf, a sentence, a list
    rule(("passw", "phrase", "secret", "token", "key", "pw", "requirepass", "masterauth"),
         rf"((?i:{_SECRET}){_BETWEEN}\\{{0,7}}[\"'\[(]?){_DRAWN}"),
    # a path in which the credential is the last part, an account and its password, a key of a database
    rule(("secret/", "password/", "token/"), rf"((?<![\w.-])(?i:secret|password|token)/){_DRAWN}"),
    rule(("login", "logon", "sqlplus"),
         rf"((?i:\blogin|\blogon|\bsqlplus)\s{{1,3}}(?:-\w{{1,9}}\s{{1,3}})?(?!{_OF_FORMS}/)[\w.@-]{{1,64}}/)"
         rf"{NOT_YET}(?!{_OF_OUTCOMES}|{_OF_HOST})[^\s\"'()\[\]{{}}<>,;:/@]{{3,200}}(?![\w/@])"),
    rule("logon", r"(\.logon\s{1,3}[\w.-]{1,64}/[\w.-]{1,64},)[^\s;]+"),
    rule(("connect", "cred", "user"), rf"((?i:\bconnect|\bcredentials?|\buser)\s{{1,3}}[\w.-]{{1,64}}[/:]){_DRAWN}"),
    rule(":", rf"((?<![\w.:-])[\w.*-]{{1,100}}{_OF_PGPASS}){_DRAWN}"),
    rule("with key", rf"((?i:\bwith\skey)\s{{1,3}}[\"']?){_DRAWN}"),
    rule("echo", rf"((?i:\becho)\s{{1,3}}[\"']?){NOT_YET}[^\s|\"']{{1,200}}"
                 r"(?=[\"']?\s?\|\s?(?:kinit|sudo -S|docker login|chpasswd|passwd --stdin))"),
    # a session's key, and no object of Java's or id by which its events are found
    rule("session", r"((?<![a-zA-Z0-9.])(?i:session(?:_?id)?)[\"']?\s?[=:]\s?[\"']?)"
         rf"(?=[\w+/~-]{{8,200}}={{0,2}}(?![\w.@$+/=~-])){_DRAWN}"),
    # the numbers of a JSON web key that are secret
    rule("kty", rf"(\\{{0,7}}[\"'](?:d|dp|dq|k|p|q|qi)\\{{0,7}}[\"']\s?:\s?\\{{0,7}}[\"']){NOT_YET}[\w+/=-]{{8,}}"),
    rule("hook", rf"((?i:/web-?hooks?/)){_DRAWN}"),
    rule("digest", rf"((?i:\baddauth\s{{1,3}}digest\s{{1,3}}|(?<![\w.-])digest:)(?!sha\d)[\w.-]{{1,64}}:)"
                   rf"{NOT_YET}[^\s:,\"']{{3,200}}"),
    rule("sshpass", rf"(\bsshpass\s{{1,3}}-p\s{{0,3}}){NOT_YET}\S+"),
)  # fmt: skip
"""What the words before a credential show: private keys, JAAS, Bearer, Basic, curl -u, IDENTIFIED BY."""
_SECRET_QUERY: Final = r"key|code|x-(?:amz|goog)-(?:credential|security-token)|awsaccesskeyid"
_ACCOUNT: Final = r"root|admin(?:istrator)?|sa|sys(?:tem|dba)?|user|guest|postgres|mysql|oracle|mongo|redis"
_PASSWORD: Final = r"[^\s\"'@/<>(){}\[\]:,;]{4,200}"
_MIXED: Final = r"(?=[^\d@]{0,100}\d)(?=[^a-z@]{0,100}[a-z])(?=[^A-Z@]{0,100}[A-Z])"
# A quote or bracket inside has a letter behind it, and does not stand where a list goes on.
_QUOTES_INSIDE: Final = r"(?:[^\s\"'@/<>,]|[\"'<>](?=\w)){1,300}"
# A few words are a password, but for a sentence that ends in a mail's address.
_BLANKS_INSIDE: Final = (
    r"(?!(?:[^\s@]{1,100}\s){1,4}?(?:and|as|ask|at|by|contact|for|from|mail|of|on|see|to|user|with)\s)"
    r"(?:[^\s\"'@/<>,;:]{1,100}\s{1,2}){1,4}[^\s\"'@/<>]{1,100}(?=@[\w.-]{1,253}(?:[:/,?\s\"']|$))"
)
_HOST: Final = r"@(?=[a-zA-Z])(?!sha\d)"
_IN_ADDRESSES: Final = (
    # up to the host; a port is no password
    rule("@", rf"(://){NOT_YET}[^\s\"'/@:<>]*:(?!\d{{1,5}}(?:[/?#,\s\"']|$))"
         rf"(?:[^\s\"'/<>]{{0,500}}|[^\s\"'@<>]{{0,500}}|{_QUOTES_INSIDE}|{_BLANKS_INSIDE})@", "@"),
    # the container@account of wasb(s) and abfs(s) is no token, nor who a file system of jceks is asked as
    rule("@", rf"((?<!jceks:)(?<!abfs:)(?<!abfss:)(?<!wasb:)(?<!wasbs:)//){NOT_YET}[^\s\"'/<>]{{1,500}}@", "@"),
    rule("jdbc", rf"(?i:(\bjdbc:\w{{1,30}}:(?:\w{{1,30}}:)?)){NOT_YET}[^\s\"'/:@;?<>]{{1,100}}[:/]{NOT_YET}"
         r"(?:[^\s\"'<>]{1,300}|\"[^\s\"]{1,200}\")@", "@"),
    # the service/host@REALM of Kerberos is no password
    rule("@", r"(?<![\w/.:@~-])[\w$#]{1,64}/(?!_HOST@|(?:[\w-]{1,63}\.){1,8}[a-z]{2,63}@[A-Z])"
         r"(?:[^\s\"'@/<>]{2,200}|\"[^\s\"'/<>]{2,200}\")@(?!sha256:)(?=[\w/(])", "@"),
    rule("@", r"(?<![\w/.@-])[\w.-]{1,64}:[^\s\"'@/<>(){}\[\]]{2,200}@(?!sha256:)"
         r"(?=[\w-]{1,63}(?:\.[a-zA-Z]|:\d))", "@"),
    # a host without a dot: of an account that everybody knows, on this machine, or a password drawn by chance
    rule("@", rf"((?<![\w/.@-])(?i:{_ACCOUNT}):){NOT_YET}{_PASSWORD}{_HOST}", "@"),
    rule("@", rf"((?<![\w/.@-])[a-zA-Z][\w.-]{{0,63}}:){NOT_YET}{_PASSWORD}"
         r"@(?=localhost\b|(?:\d{1,3}\.){3}\d)", "@"),
    rule("@", rf"((?<![\w/.@-])[a-zA-Z][\w.-]{{0,63}}:){NOT_YET}{_MIXED}{_PASSWORD}{_HOST}", "@"),
    rule("=", rf"(?i:([?&](?:{_SECRET_QUERY})=)){NOT_YET}[^&\s\"'<>]+"),
)  # fmt: skip
"""user:password@host, token@host, scott/tiger@db, ?key=..."""
_PREFIXED: Final = (
    # AWS and its like at Google, its key behind it; STS
    r"(?:(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}|GOOG1?[A-Z0-9]{20,60})\b(?:[\"'):/,;|=>\s-]{1,6}[\w+/]{40,200})?",
    r"(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w+/]{40,}={0,2}",
    # a private key in base64, and the body of one of OpenSSH
    r"LS0tLS1CRUdJTiB(?!DRVJU|QVUJM)[\w+/]{20,}={0,2}", r"b3BlbnNzaC1rZXktdj[\w+/]{20,}={0,2}",
    r"gh[pousr]_\w{20,}", r"github_pat_\w{22,}", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,}",
    r"npm_[A-Za-z0-9]{30,}", r"pypi-AgE[\w-]{20,}", r"dckr_(?:pat|oat)_[\w-]{20,}", r"hf_[A-Za-z0-9]{30,}",
    r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",  # Stripe, Shopify
    r"sk-(?:(?:proj|svcacct|admin|ant|or|lf)-[\w-]{20,}|[A-Za-z0-9]{20,})",  # OpenAI, Anthropic, OpenRouter
    r"(?:xox[abeoprs]|xapp)-[\w-]{10,}", r"(?:bot)?\d{8,10}:AA[\w-]{33}",  # Slack, Telegram
    r"AIza[\w-]{35}", r"ya29\.[\w-]{20,}", r"GOCSPX-[\w-]{20,}", r"1//0[\w-]{30,}",  # Google
    r"[\w~.-]{3}8Q~[\w~.-]{31,34}", r"d(?:api|ose|kea)[0-9a-f]{32}(?:-\d)?",  # a client's secret on Azure, Databricks
    # JWT over lines; JWT, JWE
    r"eyJ[\w-]{8,100}(?:\s{1,3}[\w-]{1,100}){0,4}\s{0,3}\.\s{0,3}eyJ[\w-]{2,100}(?:\s{1,3}[\w-]{1,100}){0,8}\s{0,3}\.\s{0,3}"
    r"[\w-]{6,100}(?:\s{1,3}(?=[\w-]{0,60}\d)[\w-]{20,100}){0,8}",
    r"eyJ[\w-]{8,2000}\.[\w-]*\.[\w-]*(?:\.[\w-]+\.[\w-]+)?",
    r"do[opr]_v1_[0-9a-f]{40,}", r"SG\.[\w-]{16,40}\.[\w-]{16,80}", r"key-[0-9a-f]{32}\b",  # SendGrid, Mailgun
    r"hv[sbr]\.[\w-]{20,}", r"gl(?:sa|c)_[\w=+/]{20,}", r"NRAK-[A-Z0-9]{20,}",  # Vault, Grafana, New Relic
    r"[0-9a-f]{36}NRAL",
    r"(?:AVNS_|CfDJ8|sntry[su]_|pscale_(?:tkn|pw|oauth)_|figd_|tskey-|xkeysib-|PMAK-|gsk_|r8_|sbp_|ntn_|nfp_"
    r"|CFPAT-|lsv2_(?:pt|sk)_|sq0(?:atp|csp)-|pplx-|dp\.(?:ct|pt|sa|st)\.|vercel_blob_rw_|fio-u-|ops_eyJ"
    r"|csk-|sgp_|cfut_|ph[cx]_|fm2_|bkua_|napi_|pcsk_|sb_secret_|CCIPAT_|rubygems_|HRKU-|BBDC-|lin_oauth_|hcaik_|glrtr-|GR1348941"
    r"|tfp_|tgp_v1_|CLOJARS_|EZAK|LTAI5t|AKID|AQVN|shippo_live_|fo1_|ATCTT3|ATBB|AKCp|cmVmdGtu|ABSK|bedrock-api-key-|cflt|wandb_v1_)[\w=+/-]{16,}",
    # of any other issuer: a word or two, and what was drawn of digits and letters of both cases
    r"(?<![./$])(?:[a-z]{2,8}[_-]){1,2}(?=[A-Za-z]{0,40}(?:\d{1,9}[A-Za-z]{1,40}){3})(?=[A-Fa-z\d]{0,40}[G-Z])"
    r"(?=[A-Za-f\d]{0,40}[g-z])[A-Za-z\d]{24,}(?![\w./-])",
    r"[\w-]{30,90}(?:AzSe|AACDbPE|ACOG)\w{4,6}\b|[\w+/]{30,50}\+ASt\w{6}==",  # Azure
    r"\w{14}\.atlasv1\.\w{60,}", r"[MN][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}\b",  # Terraform, a bot of Discord
    r"(?:sk_[0-9a-f]{48}|fw_[A-Za-z\d]{24}|re_\w{8}_\w{24}|oy2[a-z\d]{43}|cio[A-Za-z\d]{32}|EAA[A-Za-z\d]{80,}|SUA[A-Z\d]{55})\b",
    r"dt0[cs]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}", r"00D\w{12,15}![\w.]{20,}",  # Dynatrace, Salesforce
    r"pat-[a-z]{2}\d-[0-9a-f-]{36}", r"pul-[0-9a-f]{40}", r"secret_[A-Za-z0-9]{43}\b", r"EAACEdEose0cBA\w{10,}",
    r"SK[0-9a-f]{32}\b(?::[0-9a-f]{32}\b)?", r"pat\w{14}\.[0-9a-f]{64}",  # Twilio, Airtable
    r"ATATT3[\w=-]{20,}", r"lin_api_[A-Za-z0-9]{30,}", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    r"MII[\w+/]{60,}={0,2}",  # the inside of a private key, whose first line is missing
)  # fmt: skip
_HOOKS: Final = (
    r"hooks\.slack\.com/\w+/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/\w+/|api\.telegram\.org/bot"
)  # fmt: skip
_TOKENS: Final = (
    rule("", rf"(?<![\w~-])(?=[\w~./:!+-]{{16}})(?:{'|'.join(_PREFIXED)})"),
    # what a system keeps of a password: bcrypt, crypt, htpasswd, argon2
    rule("$", r"(?<![\w$])\$(?:2[abxy]\$\d\d|apr1|[156y]|argon2(?:id?|d))\$[\w./$=,+]{20,}"),
    rule(("hook", "telegram"), rf"(?i:({_HOOKS})){NOT_YET}[^\s\"'<>]+"),
)  # fmt: skip
"""What its own form shows: the prefixes that issuers publish."""
AFTER_NAMES: Final = _IN_ADDRESSES + _TOKENS
