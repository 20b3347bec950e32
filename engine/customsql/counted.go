package customsql

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"filewise"
)

// Summed adds up what a server has counted separately for statements with the same ID, for example by user or by plan.
// The result is in the order of the IDs, with the text of the first.
func Summed(all []filewise.CountedStatement) []filewise.CountedStatement {
	var sums []filewise.CountedStatement
	at := map[string]int{}
	for _, s := range all {
		i, known := at[s.ID]
		if !known {
			at[s.ID] = len(sums)
			sums = append(sums, s)
			continue
		}
		sum := &sums[i]
		sum.Calls, sum.Seconds, sum.Rows = sum.Calls+s.Calls, sum.Seconds+s.Seconds, sum.Rows+s.Rows
	}
	slices.SortFunc(sums, func(a, b filewise.CountedStatement) int { return cmp.Compare(a.ID, b.ID) })
	return sums
}

// logged passes on the statements of a log one by one. It divides a text of several statements, and its time with it,
// but not a routine's body. together is true if the statements of a text are one transaction. A session's end is passed
// on unchanged.
func (k *known) logged(s filewise.LoggedStatement, together bool, each func(filewise.LoggedStatement)) {
	if s.Text == "" {
		each(s)
		return
	}
	if strings.IndexByte(s.Text, ';') < 0 {
		s.Key, s.Values = k.keyed(s.Text, s.Arguments)
		each(s)
		return
	}
	all := k.split(s.Text)
	s.Seconds /= float64(len(all))
	ended := s.Ended
	for i, text := range all {
		if left := float64(len(all)-1-i) * s.Seconds; !ended.IsZero() {
			s.Ended = ended.Add(-time.Duration(left * float64(time.Second)))
		}
		s.Text, s.Together = text, together && i+1 < len(all)
		s.Key, s.Values = k.keyed(text, s.Arguments)
		each(s)
	}
}

func (r Rules) split(text string) []string {
	if !strings.Contains(strings.TrimRight(text, "; \t\r\n"), ";") {
		return []string{text}
	}
	var all []string
	var b strings.Builder
	code := false
	finish := func() {
		if code {
			all = append(all, strings.TrimSpace(b.String()))
		}
		b.Reset()
		code = false
	}
	for _, p := range r.scan(text) {
		if p.kind == pieceEnd {
			finish()
			continue
		}
		if p.kind == pieceParam {
			p.text = ":" + p.text
		}
		b.WriteString(p.text)
		code = code || p.kind != pieceNote && strings.TrimSpace(p.text) != ""
	}
	finish()
	routine := func(one string) bool {
		words, _ := r.words(one)
		return words[0] == "CREATE" || words[0] == "ALTER" || words[0] == "BEGIN" && slices.Contains(words, "ATOMIC")
	}
	if len(all) == 0 || slices.ContainsFunc(all, routine) {
		return []string{text}
	}
	return all
}
