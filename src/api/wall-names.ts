// Names by which the platform looks at its walls (src/services/wall-probe), and of the authorizer, which is one of them. Data; a
// changed value breaks objects that exist.
import { platformNamespace } from './names.ts'

/** The ServiceAccount without rights as which the platform tries its walls. */
export const wallProbeAccount = 'sekisho-wall-probe'

/** The ConfigMap with what the platform knows about its walls. */
export const wallRecord = { namespace: platformNamespace, name: 'sekisho-wall-status' } as const

/** The authorizer, where it is installed (deploy/authorizer): its Service, and the Secret with its serving certificate. */
export const authorizerNames = { service: 'sekisho-authorizer', secret: 'sekisho-authorizer-tls' } as const
