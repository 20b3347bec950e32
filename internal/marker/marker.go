// Package marker recognizes what Filewise has made on an external server: by a name that only Filewise gives, and by a
// marker inside the named object. Both hold a checksum, so that nothing of a user's can be mistaken for them.
package marker

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"filewise/internal/process"
)

// Prefix begins every name.
const Prefix = "filewise_"

const (
	randomLetters, sumLetters = 12, 6 // 60 and 30 bits
	nameLength                = len(Prefix) + randomLetters + sumLetters
)

// letters encodes in lower case, which no server folds, and without digits that can be mistaken for letters.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewName returns a name of 27 bytes that no run has used before.
func NewName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	random := letters.EncodeToString(b[:])[:randomLetters]
	return Prefix + random + sum(Prefix+random)
}

// IsName reports whether NewName made the name. It accepts upper case, in which some servers store names.
func IsName(name string) bool {
	name = strings.ToLower(name)
	if len(name) != nameLength || !strings.HasPrefix(name, Prefix) {
		return false
	}
	return sum(name[:nameLength-sumLetters]) == name[nameLength-sumLetters:]
}

// PlanName stands in a plan for the name that a build will get.
const PlanName = Prefix + "xxxxxxxxxxxxxxxxxx"

// Sum returns the checksum of a definition, for objects that carry it.
func Sum(definition ...string) string { return sum(strings.Join(definition, "\x00")) }

func sum(text string) string {
	s := sha256.Sum256([]byte("filewise mark 1\x00" + text))
	return letters.EncodeToString(s[:])[:sumLetters]
}

// Definitions returns the columns and keys that a CREATE TABLE defines after its first parenthesis.
func Definitions(text string) []string {
	var all []string
	depth, start := 0, 0
	for i, c := range text + ")" {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			all = append(all, strings.TrimSpace(text[start:i]))
			if start = i + 1; c == ')' {
				return all
			}
		}
	}
	return all
}

// Columns returns the names of the columns that a CREATE TABLE defines after its first parenthesis.
func Columns(definitions string) []string {
	var all []string
	for _, d := range Definitions(definitions) {
		if name, _, _ := strings.Cut(d, " "); name != "PRIMARY" && name != "UNIQUE" {
			all = append(all, strings.Trim(name, "`\""))
		}
	}
	return all
}

// Marker records who made a database, and when.
type Marker struct {
	Name    string           `json:"name"` // of the marked object
	Host    string           `json:"host"`
	Process process.Identity `json:"process"`
	Created time.Time        `json:"created"`
	// Custom is set if the database was made for custom SQL, so that objects in it can have any name.
	Custom bool   `json:"custom,omitempty"`
	Sum    string `json:"sum"`
}

// warning begins every marker, for anyone who finds the marker.
const warning = "Made by Filewise, which drops it: keep nothing here. "

// New returns the marker for an object with this name that this process is about to create.
func New(name string, created time.Time) (Marker, error) {
	self, err := process.Self()
	if err != nil {
		return Marker{}, fmt.Errorf("ownership marker of %s: %w", name, err)
	}
	host, err := os.Hostname()
	if err != nil {
		return Marker{}, fmt.Errorf("ownership marker of %s: %w", name, err)
	}
	m := Marker{Name: name, Host: host, Process: self, Created: created.UTC().Truncate(time.Second)}
	m.Sum = m.sum()
	return m, nil
}

// NewText returns the text of a marker for an object that this process creates now. custom is set for custom SQL.
func NewText(name string, custom bool) (string, error) {
	m, err := New(name, time.Now())
	if custom {
		m = m.ForCustom()
	}
	return m.Text(), err
}

// ForCustom returns the marker with Custom set.
func (m Marker) ForCustom() Marker {
	m.Custom = true
	m.Sum = m.sum()
	return m
}

func (m Marker) sum() string {
	m.Sum = ""
	b, _ := json.Marshal(m) // of strings and numbers: never fails
	return sum(string(b))
}

// Text returns the marker as it is stored on the server.
func (m Marker) Text() string {
	b, _ := json.Marshal(m) // see sum
	return warning + string(b)
}

// Parse parses the marker of the object with this name. A text that is no marker, is damaged, or belongs to another object
// is an error: the object is not Filewise's.
func Parse(name, text string) (Marker, error) {
	rest, ok := strings.CutPrefix(text, warning)
	if !ok {
		return Marker{}, fmt.Errorf("%s does not carry Filewise's marker", name)
	}
	var m Marker
	if err := json.Unmarshal([]byte(rest), &m); err != nil {
		return Marker{}, fmt.Errorf("the ownership marker of %s is damaged: %w", name, err)
	}
	switch {
	case m.sum() != m.Sum:
		return Marker{}, fmt.Errorf("the ownership marker of %s is damaged", name)
	case !strings.EqualFold(m.Name, name) || !IsName(name):
		return Marker{}, fmt.Errorf("%s carries the ownership marker of %s", name, m.Name)
	}
	return m, nil
}

// Owner describes the process that made the object.
func (m Marker) Owner() string { return fmt.Sprintf("process %d on %s", m.Process.PID, m.Host) }

// Life reports whether the process that made the object still runs. It is process.Unknown for a process of another
// host, which only the server's sessions show.
func (m Marker) Life() process.Status { return m.Process.Status() }

// DiedHere reports whether the process that made the object ran on this host, in this boot, and has ended. The server
// may still hold its sessions, if their connection was cut silently.
func (m Marker) DiedHere() bool {
	self, err := process.Self()
	return err == nil && m.Process.Boot == self.Boot && self.Boot != "" && m.Life() == process.Dead
}
