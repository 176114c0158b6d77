// What an Application becomes: the same Deployment, Service and Ingress as the product's built-in chart renders, as apply configurations.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	apps "k8s.io/client-go/applyconfigurations/apps/v1"
	core "k8s.io/client-go/applyconfigurations/core/v1"
	meta "k8s.io/client-go/applyconfigurations/meta/v1"
	networking "k8s.io/client-go/applyconfigurations/networking/v1"
)

const (
	applicationLabel = "sekisho.dev/application"
	processLabel     = "sekisho.dev/process"
	managedByLabel   = "app.kubernetes.io/managed-by"
	hashAnnotation   = "sekisho.dev/rendered-hash"
	domain           = "localhost"
)

func hashOf(rendered any) (string, error) {
	text, err := json.Marshal(rendered)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:32], nil
}

func ownerOf(app *Application) *meta.OwnerReferenceApplyConfiguration {
	return meta.OwnerReference().WithAPIVersion(groupVersion.String()).WithKind("Application").
		WithName(app.Name).WithUID(app.UID).WithController(true)
}

func hostOf(app *Application) string { return app.Name + "." + app.Namespace + "." + domain }

func selector(app *Application, process Process) map[string]string {
	return map[string]string{applicationLabel: app.Name, processLabel: process.Name}
}

func environment(app *Application) []*core.EnvVarApplyConfiguration {
	var all []*core.EnvVarApplyConfiguration
	for _, variable := range app.Spec.Env {
		all = append(all, core.EnvVar().WithName(variable.Name).WithValue(variable.Value))
	}
	return append(all,
		core.EnvVar().WithName("PORT").WithValue("3000"),
		core.EnvVar().WithName("SEKISHO_COMMIT").WithValue(app.Spec.Commit))
}

func container(app *Application, process Process) *core.ContainerApplyConfiguration {
	memory := resource.MustParse(process.Memory)
	return core.Container().WithName(process.Name).WithImage(app.Spec.Image).WithEnv(environment(app)...).
		WithPorts(core.ContainerPort().WithName("http").WithContainerPort(process.Port)).
		WithReadinessProbe(core.Probe().WithHTTPGet(core.HTTPGetAction().WithPath(process.HealthPath).
			WithPort(intstr.FromInt32(process.Port))).WithPeriodSeconds(1).WithTimeoutSeconds(2).WithFailureThreshold(3)).
		WithLifecycle(core.Lifecycle().WithPreStop(core.LifecycleHandler().WithSleep(core.SleepAction().WithSeconds(5)))).
		WithResources(core.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(process.CPU), corev1.ResourceMemory: memory}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: memory})).
		WithSecurityContext(core.SecurityContext().WithAllowPrivilegeEscalation(false).
			WithCapabilities(core.Capabilities().WithDrop("ALL")).WithPrivileged(false).WithReadOnlyRootFilesystem(true).
			WithRunAsNonRoot(true).WithSeccompProfile(core.SeccompProfile().WithType("RuntimeDefault"))).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithVolumeMounts(core.VolumeMount().WithName("tmp").WithMountPath("/tmp"))
}

func deploymentOf(app *Application, process Process) *apps.DeploymentApplyConfiguration {
	labels := selector(app, process)
	return apps.Deployment(app.Name+"-"+process.Name, app.Namespace).WithLabels(labels).
		WithLabels(map[string]string{managedByLabel: "peer"}).WithOwnerReferences(ownerOf(app)).
		WithSpec(apps.DeploymentSpec().WithReplicas(process.Replicas).WithRevisionHistoryLimit(3).
			WithProgressDeadlineSeconds(120).WithSelector(meta.LabelSelector().WithMatchLabels(labels)).
			WithStrategy(apps.DeploymentStrategy().WithType("RollingUpdate").WithRollingUpdate(apps.RollingUpdateDeployment().
				WithMaxUnavailable(intstr.FromInt32(0)).WithMaxSurge(intstr.FromInt32(1)))).
			WithTemplate(core.PodTemplateSpec().WithLabels(labels).WithSpec(core.PodSpec().
				WithAutomountServiceAccountToken(false).WithEnableServiceLinks(false).
				WithSecurityContext(core.PodSecurityContext().WithRunAsNonRoot(true).
					WithSeccompProfile(core.SeccompProfile().WithType("RuntimeDefault"))).
				WithContainers(container(app, process)).
				WithVolumes(core.Volume().WithName("tmp").WithEmptyDir(core.EmptyDirVolumeSource().
					WithSizeLimit(resource.MustParse("256Mi")))))))
}

func serviceOf(app *Application, process Process) *core.ServiceApplyConfiguration {
	return core.Service(app.Name, app.Namespace).
		WithLabels(map[string]string{applicationLabel: app.Name, managedByLabel: "peer"}).WithOwnerReferences(ownerOf(app)).
		WithSpec(core.ServiceSpec().WithSelector(selector(app, process)).
			WithPorts(core.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http"))))
}

func ingressOf(app *Application) *networking.IngressApplyConfiguration {
	backend := networking.IngressBackend().WithService(networking.IngressServiceBackend().WithName(app.Name).
		WithPort(networking.ServiceBackendPort().WithName("http")))
	return networking.Ingress(app.Name, app.Namespace).
		WithLabels(map[string]string{applicationLabel: app.Name, managedByLabel: "peer"}).WithOwnerReferences(ownerOf(app)).
		WithSpec(networking.IngressSpec().WithIngressClassName("traefik").WithRules(networking.IngressRule().
			WithHost(hostOf(app)).WithHTTP(networking.HTTPIngressRuleValue().WithPaths(networking.HTTPIngressPath().
			WithPath("/").WithPathType(networkingv1.PathTypePrefix).WithBackend(backend)))))
}
