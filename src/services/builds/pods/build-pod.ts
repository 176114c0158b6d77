// The pod of a build as the API server is sent it, and the parts from which builders compose theirs. Pure.
import { imageRepositoryAnnotation } from '../../../api/dockerfile-build.ts'
import { literal } from '../../../api/pods/literal.ts'
import type { BuildRequest } from '../builder.ts'
import { buildLabels, requestAnnotations } from '../owner.ts'

/** The fields of a Pod that are set here. */
export type BuildPod = {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod'
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly initContainers: readonly BuildContainer[]
    readonly containers: readonly BuildContainer[]
    readonly volumes: readonly object[]
  } & Readonly<Record<string, unknown>>
}

export type BuildContainer = { readonly name: string; readonly image: string } & Readonly<Record<string, unknown>>

/** `label` is that of the builder's pods; the image goes to `repository`. */
export function buildPodMetadata(request: BuildRequest, label: string, repository: string): BuildPod['metadata'] {
  const { name, namespace } = request.key
  return {
    name,
    namespace,
    labels: { [label]: name, ...buildLabels(request) },
    annotations: { ...requestAnnotations(request), [imageRepositoryAnnotation]: repository },
  }
}

/** A build ends when it is told to: nothing of it has to be kept. */
const terminationSeconds = 5

/** What holds for the pods of all builds: no token, one try, and an end. */
export function podOfBuild(serviceAccountName: string, timeoutSeconds: number): Readonly<Record<string, unknown>> {
  return {
    serviceAccountName,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Never',
    activeDeadlineSeconds: timeoutSeconds,
    terminationGracePeriodSeconds: terminationSeconds,
  }
}

/** As Pod Security `restricted` asks of each container. */
export const restrictedContainer = {
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
} as const

/** The program sees the values as they are given here. */
export function environment(
  values: Readonly<Record<string, string>>,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value: literal(value) }))
}

export function mount(name: string, mountPath: string, readOnly = false): object {
  return { name, mountPath, ...(readOnly ? { readOnly } : {}) }
}

export function secretVolume(name: string, secretName: string, more: object = {}): object {
  return { name, secret: { secretName, defaultMode: 0o444, ...more } }
}

/** A Secret with a registry credential, in the folder that `DOCKER_CONFIG` names. */
export function credentialVolume(name: string, secretName: string): object {
  return secretVolume(name, secretName, { items: [{ key: '.dockerconfigjson', path: 'config.json' }] })
}
