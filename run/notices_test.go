package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/watch/notify"
	"filewise/watch/notify/notifytest"
)

// events are the events that a webhook got.
func events(t *testing.T, h *notifytest.Hook) (out []notify.Message) {
	t.Helper()
	for _, body := range h.Bodies() {
		var m notify.Message
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// A layout that is given up, and a volume that is nearly full, are reported once, when no trial is measured; a
// message that cannot be sent is a warning.
func TestNotifyAttention(t *testing.T) {
	h := notifytest.NewHook(t, 200, 200, 400)
	var said bytes.Buffer
	address, err := notify.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	volume := filewise.Volume{Name: "here", Dir: t.TempDir()}
	plan := experiment.Plan{Scenario: "inserts", Attempts: 3,
		Target: filewise.Target{Engine: "sqlite", Mode: filewise.Embedded, Volumes: []filewise.Volume{volume}}}
	n := newNotices(plan, Options{
		Notify: notify.New([]notify.Address{address}, []notify.Event{notify.Attention, notify.Failed}),
		Hide:   func(s string) string { return filewise.Hide(s, "Canary") },
		Warn:   func(s string) { said.WriteString("warning: " + s) },
	})
	n.need([]SpaceNeed{{Volume: volume, Need: 1 << 60}})
	for attempt := 1; attempt <= 3; attempt++ {
		n.recorded(filewise.Trial{State: filewise.Failed, Reason: "it says Canary",
			Cell: filewise.Cell{Block: 2, Layout: "4 files", Attempt: attempt}})
	}
	if len(h.Bodies()) != 0 {
		t.Fatal("a message was sent while trials run")
	}
	await := n.await(func(context.Context, time.Duration) error { return nil })
	for range 2 {
		if err := await(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	got := events(t, h)
	if len(got) != 2 || !strings.Contains(got[0].Text, "4 files could not be measured in block 2: attempt 3") ||
		!strings.Contains(got[1].Text, "Volume here") {
		t.Errorf("%+v", got)
	}
	n.close(t.Context(), fmt.Errorf("broken by Canary"))
	if !strings.Contains(said.String(), "warning: "+h.URL) || len(h.Bodies()) != 3 {
		t.Errorf("%q after %d messages", said.String(), len(h.Bodies()))
	}
	if strings.Contains(said.String()+strings.Join(h.Bodies(), ""), "Canary") {
		t.Error("a secret is told")
	}
	var nobody *notices
	nobody.recorded(filewise.Trial{State: filewise.Failed})
	nobody.close(t.Context(), nil)
}
