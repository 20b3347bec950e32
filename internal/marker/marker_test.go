package marker

import (
	"strings"
	"testing"
	"time"

	"filewise/internal/process"
)

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		n := NewName()
		if !IsName(n) || !IsName(strings.ToUpper(n)) || len(n) != 27 || seen[n] {
			t.Fatal(n)
		}
		seen[n] = true
		for _, other := range []string{n + "a", n[1:], n[:20] + "0" + n[21:], strings.Replace(n, "_", "-", 1), n[:26], " " + n} {
			if IsName(other) {
				t.Errorf("%q passes for a name", other)
			}
		}
	}
	for _, other := range []string{"", "filewise", "filewise_prod", PlanName, "filewise_aaaaaaaaaaaaaaaaaa", "sales"} {
		if IsName(other) {
			t.Errorf("%q passes for a name", other)
		}
	}
}

func TestMarker(t *testing.T) {
	name := NewName()
	m, err := New(name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(name, m.Text())
	if err != nil || got != m || got.Life() != process.Alive {
		t.Errorf("%+v %v, want %+v", got, err, m)
	}
	if _, err := Parse(strings.ToUpper(name), m.Text()); err != nil {
		t.Errorf("the name in upper case: %v", err)
	}
	text := m.Text()
	for what, damaged := range map[string]string{
		"nothing": "", "another text": "our sales database", "cut": text[:len(text)-3],
		"another process": strings.Replace(text, `"host":"`, `"host":"x`, 1), "no warning": strings.TrimPrefix(text, warning),
	} {
		if _, err := Parse(name, damaged); err == nil {
			t.Errorf("%s passes for the mark", what)
		}
	}
	if _, err := Parse(NewName(), text); err == nil {
		t.Error("the mark of another database passes")
	}
	if _, err := Parse("sales", text); err == nil {
		t.Error("a mark copied to a user's database passes")
	}
}

func FuzzParse(f *testing.F) {
	name := NewName()
	m, err := New(name, time.Unix(1e9, 0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.Text())
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := Parse(name, text); err == nil && got != m {
			t.Errorf("%q passes for the mark", text)
		}
	})
}
