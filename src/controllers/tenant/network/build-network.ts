// What the pods of a build namespace may reach: DNS, the source store, the registry, and package registries on the internet.
// Nothing may reach them, and a pod that is not a build reaches nothing. Builds run the code of the tenant's repository and of
// its dependencies. Pure.
import { buildpacksBuildLabel } from '../../../api/buildpacks-build.ts'
import { dockerfileBuildLabel } from '../../../api/dockerfile-build.ts'
import { platformNamespace } from '../../../api/names.ts'
import type { NetworkSettings } from '../settings.ts'
import { allowed, denyAll, dns, inNamespace, internet, type NamedPolicy, tcp } from './rules.ts'

const labelled = (key: string): object => ({ matchExpressions: [{ key, operator: 'Exists' }] })

/** kpack sets this label on the pods of its builds. */
const kpackPods = labelled('kpack.io/build')
const buildpacksPods = labelled(buildpacksBuildLabel)
const dockerfilePods = labelled(dockerfileBuildLabel)

/** In the order of apply: what denies comes first. */
export function buildNetworkPolicies(settings: NetworkSettings, buildsDockerfiles: boolean): readonly NamedPolicy[] {
  const { sourceStorePort, registryTokenPort, buildPorts, buildEgress } = settings
  const platformPorts = [sourceStorePort, ...(registryTokenPort === undefined ? [] : [registryTokenPort])]
  const egress = [
    dns(settings),
    { to: [inNamespace(platformNamespace)], ports: platformPorts.map(tcp) },
    internet(settings, buildPorts),
    ...allowed(buildEgress),
  ]
  const reach = (name: string, podSelector: object): NamedPolicy => ({
    name,
    spec: { podSelector, policyTypes: ['Egress'], egress },
  })
  const dockerfiles = buildsDockerfiles ? [reach('sekisho-egress-dockerfile', dockerfilePods)] : []
  return [denyAll, reach('sekisho-egress', kpackPods), reach('sekisho-egress-buildpacks', buildpacksPods), ...dockerfiles]
}
