// The sandbox process of every pod: it holds the pod's namespaces open, buries orphans when the pod shares its
// process namespace, and ends when told to. It must never do anything else: it runs in every pod.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			buried, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if buried <= 0 || err != nil {
				break
			}
		}
	}
}
