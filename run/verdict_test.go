package run

import (
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/watch/notify"
	"filewise/watch/notify/notifytest"
)

// slower is a latency histogram of a layout: of as many ms as it has files.
func slower(t *testing.T, l filewise.Layout) []byte {
	t.Helper()
	h := hdr.New(1, 1e9, 3)
	if err := h.RecordValues(int64(l.Data.Files)*1000, 200); err != nil {
		t.Fatal(err)
	}
	text, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What the layout to use loses in latency stands behind the verdict wherever that appears at the end of a run: in the
// store, in the list and in webhooks' messages.
func TestTheStoredVerdictSaysWhatLatencyLoses(t *testing.T) {
	w, h := newWorker(t), notifytest.NewHook(t)
	w.plan.MaxBlocks = 10
	w.plan.Layouts[1].Data.Files = 4
	w.options.Engine = fake.New(fake.Config{Seed: 3, Noise: 0.01,
		Throughput: func(l filewise.Layout) float64 { return 1000 * float64(l.Data.Files) }})
	w.options.Clock = w.options.Engine.(*fake.Engine).Clock()
	trials, d, err := Unstored(t.Context(), w.plan, w.options)
	if err != nil {
		t.Fatal(err)
	}
	for i, trial := range trials {
		for _, l := range w.plan.Layouts {
			if l.Name == trial.Cell.Layout {
				trials[i].Measures[0].Hist = slower(t, l)
			}
		}
	}
	address, err := notify.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.options.Notify = notify.New([]notify.Address{address}, []notify.Event{notify.Decided, notify.Done})
	st, err := store.Open(t.Context(), w.options.Store)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	id, err := st.CreateRun(t.Context(), store.Run{Plan: w.plan})
	if err != nil {
		t.Fatal(err)
	}
	m := measurement{Options: w.options, store: st, notices: newNotices(w.plan, w.options)}
	out, err := m.finish(t.Context(), store.Run{ID: id, Plan: w.plan}, trials, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.notices.close(t.Context(), nil)
	first, loss := out.Data.Judgement.Sentences()[0], "Caution: p99 of 2 files is 4"
	if !strings.HasPrefix(out.Run.Verdict, first+" "+loss) || strings.Contains(out.Run.Verdict, "\n") || d.Ending != experiment.Decided {
		t.Errorf("%s: stored is %q", d.Ending, out.Run.Verdict)
	}
	got := events(t, h)
	if len(got) != 1 || got[0].Run.Verdict != out.Run.Verdict || !strings.Contains(got[0].Text, loss) {
		t.Errorf("told is %+v", got)
	}
	runs, err := archive.List(t.Context(), w.options.Store)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	want := out.Data.Judgement.First().Result.Document()
	for _, listed := range [][]experiment.OperationDecision{runs[0].Decisions, out.Run.Decisions} {
		if len(listed) != 1 || listed[0].Decision != want.Decision || listed[0].Layout != want.Layout || listed[0].Operation != "" ||
			(listed[0].BoundPercent == nil) != (want.BoundPercent == nil) {
			t.Errorf("stored is %+v, want %+v", listed, want)
		}
	}
	if told := got[0].Run.Decisions; len(told) != 1 || told[0].Decision != string(want.Decision) || told[0].Layout != want.Layout {
		t.Errorf("told is %+v, want %+v", told, want)
	}
	if list := archive.ListText(runs, len(runs)); err != nil || strings.Count(list, loss) != 1 {
		t.Errorf("%v: the list is\n%s", err, list)
	}
}
