package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"filewise"
)

// Modes are the ways in which an engine's server comes about.
func Modes(d filewise.Description) string {
	if d.Mode == filewise.External || len(d.Schemes) == 0 {
		return string(d.Mode)
	}
	return fmt.Sprintf("%s, %s", d.Mode, filewise.External)
}

// Kinds are all kinds of layout of an engine, each once.
func Kinds(d filewise.Description) string {
	var out []string
	for _, list := range [][]filewise.Kind{d.Kinds, d.ExternalKinds} {
		for _, k := range list {
			if s := string(k); s != "" && !strings.Contains(" "+strings.Join(out, " ")+" ", " "+s+" ") {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, " ")
}

// URLForm is how an existing server of an engine is named.
func URLForm(d filewise.Description, scheme string) string {
	return scheme + "://USER@HOST:" + strconv.Itoa(d.Port) + "/…"
}
