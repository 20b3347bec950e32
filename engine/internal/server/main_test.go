package server

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// parentOf in the environment makes the test binary a parent that starts a
// process, prints its PID, and waits to be killed.
const parentOf = "TEST_FILEWISE_PARENT_OF"

func TestMain(m *testing.M) {
	if log := os.Getenv(parentOf); log != "" {
		p, err := Start(Spec{Path: "/bin/sleep", Args: []string{"600"}, Log: log})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.PID())
		time.Sleep(10 * time.Minute)
	}
	os.Exit(m.Run())
}
