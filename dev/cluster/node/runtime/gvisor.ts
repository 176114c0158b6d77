// A second runtime of the node, by which pods have a kernel of their own: gVisor, whose kernel is a program. It is made when
// somebody asks for it.
// Source: https://gvisor.dev/docs/user_guide/containerd/configuration/
import { join } from 'node:path'
import { catalog } from '../../binaries/catalog.ts'
import { type BinaryDeps, ensureBinary } from '../../binaries/ensure-binary.ts'
import type { AdminClient } from '../../control-plane/admin-client.ts'

/** The handler in containerd's configuration, and the name of the RuntimeClass. */
export const gvisorHandler = 'gvisor'
export const gvisorConfigurationFile = 'runsc.toml'

/** Of the shim, which starts runsc and keeps its state below the folder. `systrap` needs no virtualization of the machine. */
export function gvisorConfiguration(folder: string, programs: string): string {
  return `binary_name = ${JSON.stringify(join(programs, 'runsc'))}
root = ${JSON.stringify(join(folder, 'runsc'))}

[runsc_config]
platform = "systrap"
`
}

/** Makes gVisor and the RuntimeClass `gvisor` of a running cluster. */
export async function addGvisor(deps: BinaryDeps, client: Pick<AdminClient, 'apply'>): Promise<void> {
  await ensureBinary(catalog.gvisor, deps)
  await client.apply(`/apis/node.k8s.io/v1/runtimeclasses/${gvisorHandler}`, {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: gvisorHandler },
    handler: gvisorHandler,
  })
}
