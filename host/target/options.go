package target

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"filewise"
)

// setOptions parses the URL's query: parts of the address by name, secrets, and the driver's own options.
func setOptions(a *filewise.Address, query string) error {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, err := option(pair)
		if err != nil {
			return err
		}
		if seen[name] {
			return wrong("give it once", "an option is given twice")
		}
		seen[name] = true
		if err := setOption(a, name, value); err != nil {
			return err
		}
	}
	return nil
}

func option(pair string) (name, value string, err error) {
	name, value, ok := strings.Cut(pair, "=")
	if !ok || name == "" {
		// The option's text is not shown: it may be the rest of a secret that holds an &.
		return "", "", wrong("give options as NAME=VALUE; in a value write & as %26", "an option has no name or no value")
	}
	var errs [2]error
	name, errs[0] = url.QueryUnescape(name)
	value, errs[1] = url.QueryUnescape(value)
	if errs[0] != nil || errs[1] != nil {
		return "", "", wrong("in an option write % as %25", "an option holds a %% that begins no %%XX")
	}
	if strings.ContainsRune(name+value, 0) {
		return "", "", wrong(form, "it holds a zero byte")
	}
	return name, value, nil
}

func setOption(a *filewise.Address, name, value string) error {
	twice := func(part string) error { return wrong("leave one of them out", "it gives the %s twice", part) }
	switch strings.ToLower(name) {
	case "host", "socket":
		if a.Host != "" {
			return twice("host")
		}
		if strings.Contains(value, ",") {
			return wrong("give the URL of the one that is to be measured", "it names several servers, and one is measured")
		}
		a.Host = value
	case "port":
		return setPort(a, value)
	case "user":
		if a.User != "" {
			return twice("user")
		}
		a.User = value
	case "password":
		if a.Password != "" {
			return twice("password")
		}
		a.Password = filewise.Secret(value)
	default:
		if IsSecret(name) {
			if a.Secrets == nil {
				a.Secrets = map[string]filewise.Secret{}
			}
			a.Secrets[name] = filewise.Secret(value)
			return nil
		}
		if a.Options == nil {
			a.Options = map[string]string{}
		}
		a.Options[name] = value
	}
	return nil
}

// secretWords lists words, in letters and digits, in the names of secret options: sslpassword (PostgreSQL), WALLET
// PASSWORD (Oracle), accessToken and clientSecret (SQL Server), and similar ones.
var secretWords = []string{"password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "apikey", "conninfo"}

// secretNot lists names that hold such a word but no secret: they are about a secret's place, or the way it is sent.
var secretNot = map[string]bool{"passfile": true, "passwordfile": true, "allowcleartextpasswords": true,
	"allownativepasswords": true, "allowoldpasswords": true, "requirepasswordauth": true, "requireauth": true,
	"nopassword": true, "tokenfile": true}

// secretShort lists short forms of these words.
var secretShort = map[string]bool{"pass": true, "passw": true, "pw": true, "psw": true, "pswd": true, "pwort": true}

// IsSecret reports whether an option's name stands for a secret, even if it is mistyped: pasword, sslpasswrod,
// wsrep_sst_auth.
func IsSecret(name string) bool {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	if secretNot[name] {
		return false
	}
	return secretShort[name] || strings.HasSuffix(name, "auth") ||
		slices.ContainsFunc(secretWords, func(word string) bool { return holds(name, word) })
}

// holds reports whether a name holds a word, with one wrong letter in words from six letters on, two from eight.
func holds(name, word string) bool {
	if strings.Contains(name, word) {
		return true
	}
	wrong := 0
	switch {
	case len(word) >= 8:
		wrong = 2
	case len(word) >= 6:
		wrong = 1
	}
	for from := range name {
		for n := len(word) - wrong; wrong > 0 && n <= len(word)+wrong && from+n <= len(name); n++ {
			if levenshtein.ComputeDistance(name[from:from+n], word) <= wrong {
				return true
			}
		}
	}
	return false
}
