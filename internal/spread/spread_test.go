package spread

import (
	"errors"
	"strings"
	"testing"

	"filewise"
)

// All tables that a layout cannot hold are in one message, and those that it can in its remedy.
func TestRefused(t *testing.T) {
	all := []Table{{Schema: "s", Name: "a"}, {Schema: "s", Name: "b", Why: []string{"one", "two"}},
		{Schema: "s", Name: "c", Why: []string{"three"}}, {Schema: "s", Name: "d"}}
	itself := func(t Table) Table { return t }
	err := Refused(all, itself)
	if err == nil || !errors.Is(err, filewise.ErrUnsupported) ||
		!strings.HasPrefix(err.Error(), "table s.b cannot be spread: one; two\ntable s.c cannot be spread: three: ") ||
		filewise.RemedyOf(err) != "name the tables that can be spread: --table s.a --table s.d" {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	if err := Refused(all[1:3], itself); filewise.RemedyOf(err) != "name other tables: --table SCHEMA.TABLE" {
		t.Error(filewise.RemedyOf(err))
	}
	if err := Refused(all[:1], itself); err != nil {
		t.Error(err)
	}
}

// Each name that there is no table of is in the message.
func TestChooseNamesAllThatAreMissing(t *testing.T) {
	_, err := Choose([]Table{{Schema: "s", Name: "a"}}, func(t Table) Table { return t }, []string{"x", "a", "y"})
	if err == nil || !strings.Contains(err.Error(), "no table x or y,") {
		t.Error(err)
	}
}
