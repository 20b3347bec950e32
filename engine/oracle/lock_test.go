package oracle

import (
	"context"
	"slices"
	"strings"
	"testing"

	"filewise"
)

// Of any interleaving of two sessions that come at once exactly one measures, and
// one that measures is never overtaken.
func TestRivals(t *testing.T) {
	steps := 4 // announce waiting, look, announce measuring, look
	for mask := range 1 << (2 * steps) {
		var order []int
		for i := range 2 * steps {
			order = append(order, mask>>i&1)
		}
		ones := 0
		for _, o := range order {
			ones += o
		}
		if ones != steps {
			continue
		}
		all := []announcement{{sid: "9", logon: "20260101000000", info: "first"}, {sid: "10", logon: "20260101000000", info: "second"}}
		at, lost := [2]int{}, [2]bool{}
		var won []int
		for _, me := range order {
			if lost[me] {
				continue
			}
			switch at[me] {
			case 0:
				all[me].action = waiting
			case 2:
				all[me].action = measuring
			case 1, 3:
				action := waiting
				if at[me] == 3 {
					action = measuring
				}
				if rival(all, all[me].sid, action) != nil {
					lost[me], all[me].action = true, ""
				} else if at[me] == 3 {
					won = append(won, me)
				}
			}
			at[me]++
		}
		if len(won) != 1 {
			t.Errorf("order %v: %v measure", order, won)
		}
	}
}

func TestLockRefusals(t *testing.T) {
	s := &server{missing: map[string]bool{}}
	ctx := context.Background()
	f := newFake()
	f.answers["this-session"] = [][]any{{"7", "1", "2"}}
	f.sessions = [][]any{{int64(7), int64(1), waiting, "me", "20260101000001"},
		{int64(8), int64(1), measuring, "ada on db2", "20260101000000"}}
	if err := s.lock(ctx, f, "me"); filewise.CodeOf(err) != filewise.CodeBusy || err.Error() != "ada on db2 is measuring on this server" {
		t.Errorf("while another measures: %v", err)
	}
	f.fails["lock"] = oracleError(errHeld)
	for _, c := range []struct {
		sessions [][]any
		remedy   string
	}{
		// Oracle 11 of the first contact: a dead client's session holds the lock until TCP gives it up.
		{[][]any{{int64(8), int64(17), measuring, "ada on db2", "20260101000000"}}, "ALTER SYSTEM KILL SESSION '8,17' IMMEDIATE"},
		{nil, "l.id1 = 728417309"},
	} {
		f.sessions = c.sessions
		if err := s.lock(ctx, f, "me"); filewise.CodeOf(err) != filewise.CodeBusy || !strings.Contains(filewise.RemedyOf(err), c.remedy) {
			t.Errorf("while another has the lock: %v (%s)", err, filewise.RemedyOf(err))
		}
	}
	f.sessions = [][]any{{int64(7), int64(1), waiting, "me", "20260101000001"}}
	f.fails["lock"] = oracleError(3113)
	if err := s.lock(ctx, f, "me"); err == nil || filewise.CodeOf(err) == filewise.CodeBusy {
		t.Errorf("a lost connection is not a lock: %v", err)
	}
	delete(f.fails, "lock")
	if err := s.lock(ctx, f, "me"); err != nil {
		t.Errorf("alone: %v", err)
	}
	f.sessions = [][]any{{int64(7), int64(1), measuring, "me", "20260101000001"}}
	if err := s.still(ctx, f); err != nil {
		t.Errorf("it measures: %v", err)
	}
	for what, sessions := range map[string][][]any{
		"gone": {}, "another measures": {{int64(8), int64(1), measuring, "ada", "20260101000000"}},
		"no word of it":   {{int64(7), int64(1), "", "me", "20260101000001"}},
		"one was earlier": {{int64(7), int64(1), measuring, "me", "20260101000001"}, {int64(8), int64(1), measuring, "ada", "20260101000000"}},
	} {
		f.sessions = sessions
		if err := s.still(ctx, f); err == nil {
			t.Errorf("%s: the lock is held", what)
		}
	}
	other := &server{missing: s.missing, about: about{instance: 1, instanceName: "cdb1"}}
	if remedy := filewise.RemedyOf(other.busy(announcement{sid: "8", serial: "17"})); !strings.Contains(remedy, "'8,17,@1'") {
		t.Errorf("on RAC: %s", remedy)
	}
	if err := other.lock(ctx, f, "me"); err == nil || !strings.Contains(err.Error(), "instance 2") ||
		!strings.Contains(filewise.RemedyOf(err), "INSTANCE NAME=cdb1") {
		t.Errorf("on another instance of RAC: %v", err)
	}
	f.sessions = f.sessions[:0]
	f.fails["this-session"] = oracleError(3113)
	if err := s.still(ctx, f); err == nil {
		t.Error("by a lost connection the lock is held")
	}
	delete(f.fails, "this-session")
	f.sessions = [][]any{{int64(7), int64(1), waiting, "me", "20260101000001"}}
	f.log = nil
	if err := (&server{missing: map[string]bool{grantLock: true}}).lock(ctx, f, "me"); err != nil || slices.Contains(f.log, "lock") {
		t.Errorf("without the right: %v, %v", err, f.log)
	}
}
