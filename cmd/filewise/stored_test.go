package main

import (
	"context"
	"errors"

	"filewise"
	"filewise/cmd/filewise/filewisetest"
	"filewise/experiment"
	"filewise/store"
)

var (
	until   = filewisetest.Until
	inOrder = filewisetest.InOrder
	treeOf  = filewisetest.Tree
)

// readRun reads a run as the next filewise would.
func readRun(path string, id int64) (plan experiment.Plan, trials []filewise.Trial, err error) {
	ctx := context.Background()
	st, err := store.OpenExisting(ctx, path)
	if err != nil {
		return plan, nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	r, err := st.Run(ctx, id)
	if err != nil {
		return plan, nil, err
	}
	trials, err = st.Trials(ctx, id)
	return r.Plan, trials, err
}
