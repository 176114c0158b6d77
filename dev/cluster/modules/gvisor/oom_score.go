// Package sys stands in for containerd's scores of the OOM killer. gVisor's shim asks for a score that root may set only with CAP_SYS_RESOURCE, which
// the root of a container does not have; there the shim keeps the score that it has.
package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Bounds of Linux: https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html
const (
	OOMScoreAdjMin = -1000
	OOMScoreAdjMax = 1000
)

// AdjustOOMScore sets the score of a process, moved into the bounds.
func AdjustOOMScore(pid, score int) error {
	if score < OOMScoreAdjMin {
		score = OOMScoreAdjMin
	}
	if score > OOMScoreAdjMax {
		score = OOMScoreAdjMax
	}
	return SetOOMScore(pid, score)
}

// SetOOMScore sets the score of a process, if the kernel allows it.
func SetOOMScore(pid, score int) error {
	if score < OOMScoreAdjMin || score > OOMScoreAdjMax {
		return fmt.Errorf("an OOM score must be from %d to %d, not %d", OOMScoreAdjMin, OOMScoreAdjMax, score)
	}
	err := os.WriteFile(scoreFile(pid), []byte(strconv.Itoa(score)), 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// GetOOMScoreAdj reads the score of a process.
func GetOOMScoreAdj(pid int) (int, error) {
	text, err := os.ReadFile(scoreFile(pid))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

func scoreFile(pid int) string {
	return fmt.Sprintf("/proc/%d/oom_score_adj", pid)
}
