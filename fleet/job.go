// Package fleet measures one study on many hosts, through Temporal. A worker on each host measures with package run,
// into its own store. A workflow for each experiment and host asks the worker for one trial after the other, and
// survives whatever dies in the meantime. The experiment's results come home as a bundle.
//
// A workflow's state is in its history, which others may read. So jobs name no secret, and workers mask errors. Any
// worker that is there replays a workflow from its history, even a newer one. So a change of a workflow's steps needs
// workflow.GetVersion, and TestHistoryIsReplayed has a history of each version.
package fleet

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"filewise"
	"filewise/watch/web"
)

// Job is one experiment of a study, to be measured on one host.
type Job struct {
	Campaign   string            `json:"campaign"`
	Experiment string            `json:"experiment"`
	Host       string            `json:"host"`
	File       string            `json:"file"`              // name of the study's file, as given
	Study      []byte            `json:"study"`             // its text
	Scripts    map[string]string `json:"scripts,omitempty"` // texts of files with SQL, by path in the study
	Seed       string            `json:"seed"`              // empty means the study has one
	Patience   time.Duration     `json:"patience_ns"`
}

// Name returns the name of the job's run in the store of its host.
func (o Job) Name() string { return o.Campaign + ": " + o.Experiment }

// id returns the id of the job's workflow.
func (o Job) id() string { return idOf(o.Campaign) + o.Experiment + "@" + o.Host }

// named returns the parts of a job that its workflow's id holds.
func named(id string) (o Job) {
	o.Campaign, o.Experiment, _ = strings.Cut(strings.TrimPrefix(id, campaignPrefix), "/")
	if at := strings.LastIndexByte(o.Experiment, '@'); at >= 0 {
		o.Experiment, o.Host = o.Experiment[:at], o.Experiment[at+1:]
	}
	return o
}

const campaignPrefix = "filewise-campaign/" // of ids

func idOf(campaign string) string { return campaignPrefix + campaign + "/" }

// mostStudy limits the size of a job's study with its scripts, since every request to its host holds them.
const mostStudy = 256 << 10

func (o Job) bytes() int {
	n := len(o.Study)
	for _, text := range o.Scripts {
		n += len(text)
	}
	return n
}

// check returns an error if the job is too long, or a name in it cannot name a run, a tag or a workflow.
func (o Job) check() error {
	bad := func(name string) bool {
		return name == "" || strings.ContainsAny(name, "\"'`\\\n") || utf8.RuneCountInString(name) > 60
	}
	switch {
	case bad(o.Campaign) || strings.Contains(o.Campaign, "/"):
		return filewise.Errorf(filewise.CodeUsage, "give --name with at most 60 letters, without quotes and slashes", "campaign %q cannot be "+
			"called so", o.Campaign)
	case bad(o.Host):
		return filewise.Errorf(filewise.CodeUsage, "start its worker with --host NAME", "host %q cannot be called so", o.Host)
	case o.bytes() > mostStudy:
		return filewise.Errorf(filewise.CodeUsage, "have SQL make rows instead of listing them (INSERT … SELECT)",
			"%s has %d bytes with its scripts: no more than %d go to hosts", o.File, o.bytes(), mostStudy)
	case utf8.RuneCountInString(o.Name()) > 100:
		return filewise.Errorf(filewise.CodeUsage, "give the campaign or the experiment a shorter name", "the name of %q is too long", o.Name())
	}
	return nil
}

// Standing describes a job's progress on its host.
type Standing struct {
	Run       int64  `json:"run"`               // number of the run in the host's store. 0 means not begun
	Trials    int    `json:"trials"`            // stored there, pilots and failed ones included
	Uncounted int    `json:"beside,omitempty"`  // pilots and failed trials among them, which "list" does not count
	Verdict   string `json:"verdict,omitempty"` // so far, in a sentence
	Ended     bool   `json:"ended,omitempty"`   // nothing is left to measure
	Why       string `json:"why,omitempty"`
	// Doing describes the host's place in the plan, and the stage of a trial. It is empty between two trials.
	Doing   string         `json:"doing,omitempty"`
	Layouts []web.Estimate `json:"layouts,omitempty"` // so far, without the baseline
}

// The conditions of a job.
const (
	Waiting = "waiting" // the host has not begun
	Running = "running"
	Paused  = "paused"
	Done    = "done"
	Stopped = "stopped"
	Failed  = "failed"
	Lost    = "lost" // the host does not answer any more
	Unread  = "cannot be read without its key"
)

// State holds a workflow's information on its job.
type State struct {
	Job
	Standing  Standing  `json:"standing"`
	Condition string    `json:"condition"`
	Pausing   bool      `json:"pausing,omitempty"`
	Stopping  bool      `json:"stopping,omitempty"`
	Ending    bool      `json:"ending,omitempty"` // the results are on their way home
	Changed   time.Time `json:"changed"`          // when the host answered last
	Error     string    `json:"error,omitempty"`
	Bundle    Bundle    `json:"bundle"`
	Steps     int       `json:"steps"` // requests to the host in all
}

// Bundle describes a result that waits to be fetched, or the part of it that has come so far.
type Bundle struct {
	SHA256 string `json:"sha256,omitempty"`
	Parts  int    `json:"parts,omitempty"`
	Trials int    `json:"trials,omitempty"`
}

// Part is a piece of a bundle.
type Part struct {
	Bundle
	Index int    `json:"index"`
	Bytes []byte `json:"bytes"`
}

// Offer describes what a worker's host offers.
type Offer struct {
	Host    string            `json:"host"`
	Labels  []string          `json:"labels"` // KEY=VALUE
	Version string            `json:"version"`
	Cores   int               `json:"cores"`
	Engines []string          `json:"engines"`
	Volumes map[string]string `json:"volumes"` // directories by volume name
	// Left is the name on Temporal of the worker that has announced its end. It is empty if none has.
	Left string `json:"left,omitempty"`
}

// Has reports whether the host has all of these labels.
func (o Offer) Has(labels []string) bool {
	for _, l := range labels {
		if name, ok := strings.CutPrefix(l, hostTag); ok && strings.EqualFold(name, o.Host) {
			continue
		}
		if !slices.Contains(o.Labels, l) {
			return false
		}
	}
	return true
}

// queue is the queue on Temporal for all workers, which decide what comes next. Each host has another queue, for
// measuring.
const queue = "filewise"

func queueOf(host string) string { return queue + "/" + host }
