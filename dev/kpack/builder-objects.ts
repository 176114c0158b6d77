// The objects that builds need besides kpack: lifecycle, stack, buildpacks and the ClusterBuilder `sekisho`. All images are
// named by digest, so that changed content changes the object and kpack notices.
import { buildpacks } from '../images/recipes/buildpack.ts'
import { stackId } from '../images/recipes/stack.ts'
import { type KubernetesObject, withLabel } from './kubernetes-object.ts'

export type BuilderImages = {
  readonly lifecycle: string
  readonly build: string
  readonly run: string
  readonly prepare: string
  readonly packages: string
  readonly node: string
  readonly python: string
  readonly static: string
}

export type BuilderObjects = {
  readonly foundation: readonly KubernetesObject[]
  /** Applied when the foundation is ready; otherwise kpack would build it from the old foundation. */
  readonly builder: KubernetesObject
}

export const builderName = 'sekisho'
export const platformNamespace = 'sekisho-system'
/** The platform makes this Secret: what kpack pulls and pushes the objects below with. */
export const credentialName = 'sekisho-registry-platform'
const serviceAccountName = 'kpack-builder'
const serviceAccountRef = { name: serviceAccountName, namespace: platformNamespace }
const apiVersion = 'kpack.io/v1alpha2'
const buildpackNames = {
  prepare: 'sekisho-prepare',
  packages: 'sekisho-packages',
  node: 'sekisho-node',
  python: 'sekisho-python',
  static: 'sekisho-static',
} as const satisfies Record<keyof typeof buildpacks, string>
/** The first one whose rules fit the app builds it; docs/guide/buildpacks.md has the rules. */
const languages = ['node', 'python', 'static'] as const

/** `inputs` is a digest of everything here; kpack copies it to a label, which changes the builder's generation. */
export function builderObjects(images: BuilderImages, registry: string, inputs: string): BuilderObjects {
  const cluster = (kind: string, name: string, spec: object): KubernetesObject =>
    withLabel({ apiVersion, kind, metadata: { name }, spec })
  const foundation = [
    // Its namespace belongs to the platform and may exist already with its own labels, so it is not one of these objects.
    withLabel({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: serviceAccountName, namespace: platformNamespace },
      automountServiceAccountToken: false,
      secrets: [{ name: credentialName }],
      imagePullSecrets: [{ name: credentialName }],
    }),
    cluster('ClusterLifecycle', builderName, { image: images.lifecycle, serviceAccountRef }),
    cluster('ClusterStack', builderName, {
      id: stackId,
      buildImage: { image: images.build },
      runImage: { image: images.run },
      serviceAccountRef,
    }),
    ...(['prepare', 'packages', ...languages] as const).map(name =>
      cluster('ClusterBuildpack', buildpackNames[name], { image: images[name], serviceAccountRef }),
    ),
  ]
  const builder = cluster('ClusterBuilder', builderName, {
    tag: `${registry}/cnb/builder`,
    serviceAccountRef,
    lifecycle: { kind: 'ClusterLifecycle', name: builderName },
    stack: { kind: 'ClusterStack', name: builderName },
    additionalLabels: { 'dev.sekisho.inputs': inputs },
    order: languages.map(language => ({
      group: (['prepare', 'packages', language] as const).map(name => ({
        kind: 'ClusterBuildpack',
        name: buildpackNames[name],
        id: buildpacks[name].id,
        // It takes part only in an app with an Aptfile.
        ...(name === 'packages' ? { optional: true } : {}),
      })),
    })),
  })
  return { foundation, builder }
}
