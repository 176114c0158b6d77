// CoreDNS with only the plugins that the local cluster's Corefile uses: the stock build links the SDKs of several clouds.
// It must never grow a plugin that the Corefile rendered in dev/cluster/node does not name.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

// main fixes the order in which a query passes the plugins: outermost first, the sources of answers last.
func main() {
	dnsserver.Directives = []string{"errors", "ready", "cache", "kubernetes", "forward"}
	coremain.Run()
}
