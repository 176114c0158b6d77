// The objects that builds need besides kpack: lifecycle, stack, buildpacks and the ClusterBuilder `sekisho`. All images are named by
// digest, so that changed content changes the object and kpack notices.
import { buildpacks } from '../images/recipes/buildpack.ts'
import { stackId } from '../images/recipes/stack.ts'
import { type KubernetesObject, withLabel } from './kubernetes-object.ts'

export type BuilderImages = {
  readonly lifecycle: string
  readonly build: string
  readonly run: string
  readonly prepare: string
  readonly node: string
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
const buildpackNames = { prepare: 'sekisho-prepare', node: 'sekisho-node' } as const satisfies Record<
  keyof typeof buildpacks,
  string
>

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
    cluster('ClusterBuildpack', buildpackNames.prepare, { image: images.prepare, serviceAccountRef }),
    cluster('ClusterBuildpack', buildpackNames.node, { image: images.node, serviceAccountRef }),
  ]
  const builder = cluster('ClusterBuilder', builderName, {
    tag: `${registry}/cnb/builder`,
    serviceAccountRef,
    lifecycle: { kind: 'ClusterLifecycle', name: builderName },
    stack: { kind: 'ClusterStack', name: builderName },
    additionalLabels: { 'dev.sekisho.inputs': inputs },
    order: [
      {
        group: [
          { kind: 'ClusterBuildpack', name: buildpackNames.prepare, id: buildpacks.prepare.id },
          { kind: 'ClusterBuildpack', name: buildpackNames.node, id: buildpacks.node.id },
        ],
      },
    ],
  })
  return { foundation, builder }
}
