// The reconcile loop: reads from the cache, applies what is not there yet in the wanted form, and reports by conditions.
// Nothing is written where nothing changed: a child carries the hash of what was applied, and a status is compared before it is sent.
package main

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	fieldOwner = client.FieldOwner("peer.example.com/application")
	// Releases by the uid of their Application.
	ownerIndex = "owner"
)

type Reconciler struct {
	client.Client
	// Reads from the API server.
	reader client.Reader
	events record.EventRecorder
	// Called after each reconcile that did not fail.
	counted func()
}

// ensure applies `wanted` unless the cached child already has this hash and this owner.
func (r *Reconciler) ensure(ctx context.Context, app *Application, live client.Object, name, hash string, wanted runtime.ApplyConfiguration) (bool, error) {
	err := r.Get(ctx, client.ObjectKey{Namespace: app.Namespace, Name: name}, live)
	if err == nil && live.GetAnnotations()[hashAnnotation] == hash && metav1.IsControlledBy(live, app) {
		return false, nil
	}
	if err != nil && !errors.IsNotFound(err) {
		return false, err
	}
	return true, r.Apply(ctx, wanted, fieldOwner, client.ForceOwnership)
}

// children also returns the pods of the present version, as the cache knows them.
func (r *Reconciler) children(ctx context.Context, app *Application) (bool, []Entry, int32, error) {
	process := app.Spec.Processes[0]
	deployment, service, ingress := deploymentOf(app, process), serviceOf(app, process), ingressOf(app)
	hashes := [3]string{}
	for i, rendered := range []any{deployment, service, ingress} {
		hash, err := hashOf(rendered)
		if err != nil {
			return false, nil, 0, err
		}
		hashes[i] = hash
	}
	annotation := func(i int) map[string]string { return map[string]string{hashAnnotation: hashes[i]} }
	var live appsv1.Deployment
	first, err := r.ensure(ctx, app, &live, *deployment.Name, hashes[0], deployment.WithAnnotations(annotation(0)))
	if err != nil {
		return false, nil, 0, err
	}
	second, err := r.ensure(ctx, app, &corev1.Service{}, *service.Name, hashes[1], service.WithAnnotations(annotation(1)))
	if err != nil {
		return false, nil, 0, err
	}
	third, err := r.ensure(ctx, app, &networkingv1.Ingress{}, *ingress.Name, hashes[2], ingress.WithAnnotations(annotation(2)))
	inventory := []Entry{
		{"apps/v1", "Deployment", *deployment.Name},
		{"networking.k8s.io/v1", "Ingress", *ingress.Name},
		{"v1", "Service", *service.Name},
	}
	return first || second || third, inventory, live.Status.UpdatedReplicas, err
}

// releaseStatus adds what is known about the newest release. Times are those at which something was done for the first time.
func releaseStatus(status *ApplicationStatus, app *Application, number int64, releasedAt string) {
	now := wireTime()
	status.LatestRelease = number
	status.ReleasedGeneration = app.Generation
	if status.Rollout == nil || status.Rollout.Release != number {
		status.Rollout = &Rollout{Release: number, StartedAt: now}
	}
	if status.Phases == nil || status.Phases.Release != number {
		status.Phases = &Phases{Release: number, ReleasedAt: releasedAt, AppliedAt: now}
	}
}

func wireTime() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

func statusOf(app *Application, inventory []Entry, changed bool) ApplicationStatus {
	status := app.DeepCopy().Status
	set := func(kind string, value metav1.ConditionStatus, reason, message string) {
		apimeta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason, Message: message, ObservedGeneration: app.Generation,
		})
	}
	set("Rendered", metav1.ConditionTrue, "Applied", "the cluster has every object of the chart")
	set("Available", metav1.ConditionFalse, "RollingOut", "0 of 1 replicas run this version")
	set("Ready", metav1.ConditionFalse, "RollingOut", "0 of 1 replicas run this version")
	status.ObservedGeneration = app.Generation
	status.Inventory = inventory
	status.URL = "http://" + hostOf(app) + ":8080"
	if changed || status.AppliedAt == "" {
		status.AppliedAt = wireTime()
	}
	return status
}

func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var app Application
	if err := r.Get(ctx, request.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if app.DeletionTimestamp != nil || app.Spec.Image == "" || len(app.Spec.Processes) == 0 {
		return ctrl.Result{}, nil
	}
	number, err := r.release(ctx, &app)
	if err != nil {
		return ctrl.Result{}, err
	}
	releasedAt := wireTime()
	changed, inventory, replicas, err := r.children(ctx, &app)
	if err != nil {
		return ctrl.Result{}, err
	}
	status := statusOf(&app, inventory, changed)
	releaseStatus(&status, &app, number, releasedAt)
	status.Replicas = &replicas
	if err := r.report(ctx, &app, status); err != nil {
		return ctrl.Result{}, err
	}
	r.counted()
	return ctrl.Result{}, nil
}

// report writes the status when it says something new. Where the cache is behind our own last write the API server says conflict, and
// the queue repeats the reconcile.
func (r *Reconciler) report(ctx context.Context, app *Application, status ApplicationStatus) error {
	if equality.Semantic.DeepEqual(app.Status, status) {
		return nil
	}
	present := app.DeepCopy()
	present.Status = status
	if err := r.Status().Update(ctx, present); err != nil {
		return err
	}
	before := apimeta.FindStatusCondition(app.Status.Conditions, "Ready")
	if after := apimeta.FindStatusCondition(status.Conditions, "Ready"); before == nil || before.Reason != after.Reason {
		r.events.Event(app, corev1.EventTypeNormal, after.Reason, after.Message)
	}
	return nil
}
