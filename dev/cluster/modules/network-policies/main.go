// Enforces NetworkPolicies on the node: the Kubernetes reference implementation with a kubeconfig of its own instead of a pod's ServiceAccount,
// and with an orderly end on SIGTERM. It gives verdicts on the packets that the node's firewall rules put into its queue; it must never accept
// a packet because it cannot judge it (FailOpen stays false).
package main

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

func main() {
	klog.InitFlags(nil)
	kubeconfig := flag.String("kubeconfig", "", "the kubeconfig of this program")
	node := flag.String("node", "", "the name of the node")
	queue := flag.Int("queue", 100, "the number of the netfilter queue")
	metrics := flag.String("metrics-address", "127.0.0.1:9180", "where /metrics is served")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *metrics, networkpolicy.Config{
		NodeName: *node,
		QueueID:  *queue,
		// Not disabled: v0.8.0 would use the absent plugin. Without a runtime that answers it logs once and uses the API server alone.
		NRIdisabled: false,
	}); err != nil {
		klog.Fatalf("network policies are not enforced: %v", err)
	}
}

// run returns when the context ends, or with the reason why it could not enforce.
func run(ctx context.Context, kubeconfig, metrics string, config networkpolicy.Config) error {
	access, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	access.ContentType = "application/vnd.kubernetes.protobuf"
	access.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := networkpolicy.NewController(client,
		factory.Networking().V1().NetworkPolicies(), factory.Core().V1().Namespaces(), factory.Core().V1().Pods(),
		nil, nil, nil, nil, config)
	if err != nil {
		return err
	}
	serving := make(chan error, 1)
	server := &http.Server{Addr: metrics, Handler: promhttp.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { serving <- server.ListenAndServe() }()
	defer server.Close()
	judging := make(chan error, 1)
	go func() { judging <- controller.Run(ctx) }()
	factory.Start(ctx.Done())
	select {
	case err = <-serving:
		return err
	case err = <-judging:
		if err == nil && ctx.Err() == nil {
			err = errors.New("the controller ended")
		}
		return err
	}
}
