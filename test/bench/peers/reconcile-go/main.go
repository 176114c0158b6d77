// A minimal controller-runtime program that does for Applications what the product's Application controller does: a Release, three children by
// server-side apply with an owner reference, the status, and an Event when Ready changes. It caches what it owns, of the same kinds. It is the peer of the bench `reconcile`
// and nothing else.
// Asked by lines of JSON on standard input; the first line it writes says that it is ready.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

type question struct {
	Do          string `json:"do"`
	Concurrency int    `json:"concurrency"`
}

type peer struct{ reconciles atomic.Int64 }

func (p *peer) start(q question) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	// The API server's own fairness is the limit, as for the product's client.
	config.QPS = -1
	scheme := clientscheme.Scheme
	addToScheme(scheme)
	labelled, err := labels.NewRequirement(applicationLabel, selection.Exists, nil)
	if err != nil {
		return err
	}
	children := cache.ByObject{Label: labels.NewSelector().Add(*labelled)}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Logger:  logr.Discard(),
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&appsv1.Deployment{}: children, &corev1.Service{}: children, &networkingv1.Ingress{}: children,
				&batchv1.Job{}: children, &batchv1.CronJob{}: children, &Release{}: children,
			},
		},
	})
	if err != nil {
		return err
	}
	reconciler := &Reconciler{
		Client:  manager.GetClient(),
		reader:  manager.GetAPIReader(),
		events:  manager.GetEventRecorderFor("peer"),
		counted: func() { p.reconciles.Add(1) },
	}
	err = manager.GetFieldIndexer().IndexField(context.Background(), &Release{}, ownerIndex, func(object client.Object) []string {
		owner := metav1.GetControllerOf(object)
		if owner == nil {
			return nil
		}
		return []string{string(owner.UID)}
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&Application{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&networkingv1.Ingress{}).Owns(&Release{}).
		Owns(&batchv1.Job{}).Owns(&batchv1.CronJob{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: q.Concurrency}).
		Complete(reconciler)
	if err != nil {
		return err
	}
	go func() {
		if err := manager.Start(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	return nil
}

func (p *peer) answer(q question) (map[string]any, error) {
	switch q.Do {
	case "start":
		return map[string]any{"started": true}, p.start(q)
	case "count":
		return map[string]any{"reconciles": p.reconciles.Load()}, nil
	case "memory":
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return map[string]any{"heapBytes": stats.HeapAlloc}, nil
	}
	return nil, fmt.Errorf("unknown question %q", q.Do)
}

func main() {
	ctrl.SetLogger(logr.Discard())
	out := json.NewEncoder(os.Stdout)
	say := func(answer map[string]any) {
		if err := out.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
	say(map[string]any{"ready": true})
	p := &peer{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			say(map[string]any{"error": err.Error()})
			continue
		}
		answer, err := p.answer(q)
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		say(answer)
	}
}
