package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"filewise/fleet"
	"filewise/run/plan"
)

// temporal is one with a host, whose jobs never end.
type temporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	working   bool
	waited    func()
	forgotten []string
}

func (*temporal) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (*temporal) ListWorkflowExecutions(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	offer, err := converter.GetDefaultDataConverter().ToPayload(fleet.Offer{Host: "db1"})
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "filewise-host/db1"},
		Memo:      &commonpb.Memo{Fields: map[string]*commonpb.Payload{"offer": offer}},
	}}}, err
}

func (s *temporal) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (
	*workflowservice.DescribeTaskQueueResponse, error) {
	out := &workflowservice.DescribeTaskQueueResponse{}
	if s.working {
		out.Pollers = []*taskqueue.PollerInfo{{LastAccessTime: timestamppb.Now()}}
	}
	return out, nil
}

func (*temporal) StartWorkflowExecution(context.Context, *workflowservice.StartWorkflowExecutionRequest) (
	*workflowservice.StartWorkflowExecutionResponse, error) {
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "run"}, nil
}

func (s *temporal) GetWorkflowExecutionHistory(ctx context.Context, _ *workflowservice.GetWorkflowExecutionHistoryRequest) (
	*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	s.waited()
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s *temporal) TerminateWorkflowExecution(_ context.Context, r *workflowservice.TerminateWorkflowExecutionRequest) (
	*workflowservice.TerminateWorkflowExecutionResponse, error) {
	s.forgotten = append(s.forgotten, r.GetWorkflowExecution().GetWorkflowId())
	return &workflowservice.TerminateWorkflowExecutionResponse{}, nil
}

// Of experiments of one name each is a job by itself.
func TestOrderOfNamesakes(t *testing.T) {
	text := "experiments:\n- {name: a, scenario: inserts, files: [1, 2]}\n- {name: a, scenario: inserts, files: [1, 4]}\n"
	for name, last := range map[string]string{"a": "2 files", "a #2": "4 files"} {
		made, err := (&app{}).makeJob(fleet.Job{Experiment: name, File: "s.yaml", Study: []byte(text)}, newOptions())
		if err != nil || len(made.Plan.Layouts) != 2 || made.Plan.Layouts[1].Name != last {
			t.Errorf("%s: %v, %v", name, made.Plan.Layouts, err)
		}
	}
}

// Names of hosts are the same in capitals.
// A script in a file goes with the study: what a host has by that path is another.
func TestScriptsGoWithTheStudy(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	const text = "scenario: custom\nfiles: [1, 2]\ncustom:\n  tables: {notes: id}\n  setup: {file: notes.sql}\n" +
		"  transactions: {add: {sql: INSERT INTO notes VALUES (1)}}\n"
	const script = "CREATE TABLE notes (id INTEGER) {{spread \"notes\"}}"
	for name, content := range map[string]string{file: text, filepath.Join(dir, "notes.sql"): script} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := (&app{}).studyOf(file, nil)
	if err != nil || s.Scripts["notes.sql"] != script {
		t.Fatalf("%+v, %v", s.Scripts, err)
	}
	t.Chdir(dir) // as if the host had such a file
	job := fleet.Job{Experiment: s.Experiments[0], File: s.File, Study: s.Text,
		Scripts: map[string]string{"notes.sql": "CREATE TABLE notes (no TEXT) {{spread \"notes\"}}"}}
	made, err := (&app{}).makeJob(job, newOptions())
	if got := fmt.Sprint(made.Plan.Params.Custom); err != nil || !strings.Contains(got, "no TEXT") {
		t.Errorf("%s, %v", got, err)
	}
	job.Scripts = nil
	if _, err := (&app{}).makeJob(job, newOptions()); err == nil || !strings.Contains(err.Error(), "has not come with the study") {
		t.Errorf("without the script: %v", err)
	}
}

func TestWorkerInCapitals(t *testing.T) {
	site, err := (&app{}).site(newOptions(), new(plan.TargetOptions), "DB1", nil)
	if err != nil || site.Host != "db1" {
		t.Errorf("host %q, %v", site.Host, err)
	}
}

// A campaign whose command is ended by a signal goes on, and the command reports it; a host is forgotten when its
// worker is gone.
func TestCampaignGoesOn(t *testing.T) {
	t.Setenv("FILEWISE_STATE", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	there, server := &temporal{waited: cancel, working: true}, grpc.NewServer()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	workflowservice.RegisterWorkflowServiceServer(server, there)
	go func() { _ = server.Serve(l) }() // until it is stopped
	defer server.Stop()
	study := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(study, []byte("scenario: inserts\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says := func(ctx context.Context, code int, want string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		err := execute(ctx, append(args, "--temporal", l.Addr().String()), nil, &out, &out)
		if exitCode(err) != code || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "filewise resume") {
			t.Errorf("%v: exit code %d, want %d with %q:\n%s", args, exitCode(err), code, want, out.String())
		}
	}
	says(ctx, exitUsage, "--label nonsense: invalid value", "campaign", study, "--label", "nonsense")
	says(ctx, exitNotFound, "none of 1 host has rack=b; there are host=db1", "campaign", study, "--label", "rack=b")
	says(ctx, exitInterrupted, "interrupted; campaign s goes on\n  → \"filewise campaign show s\"", "campaign", study)
	says(t.Context(), exitBusy, "host db1 has a worker there", "campaign", "forget", "db1")
	there.working = false
	says(t.Context(), exitNotFound, `there is no host "db2"`, "campaign", "forget", "db1", "db2")
	says(t.Context(), exitOK, "Forgot 1 host.", "campaign", "forget", "DB1")
	if len(there.forgotten) != 1 || there.forgotten[0] != "filewise-host/db1" {
		t.Errorf("forgotten: %q", there.forgotten)
	}
}
