// Every admission rule. A new rule is one file here and one line below; the webhook, the policies and the generated YAML follow from the
// list.
import type { Rule } from '../rule.ts'
import { installationWriters } from './installation-writers.ts'
import { namespaceGuard } from './namespace-guard.ts'
import { endpointWriters } from './network/endpoint-writers.ts'
import { serviceAddresses } from './network/service-addresses.ts'
import { requestedBy } from './requested-by.ts'
import { reservedSecrets } from './reserved-secrets.ts'
import { secretKinds } from './secret-kinds.ts'
import { secretReferences, secretReferencesElsewhere } from './secret-references.ts'
import { tenantWriters } from './tenant-writers.ts'

/** The order decides which refusal is reported when several rules refuse. */
export const rules: readonly Rule[] = [
  installationWriters,
  tenantWriters,
  requestedBy,
  reservedSecrets,
  secretKinds,
  secretReferences,
  secretReferencesElsewhere,
  namespaceGuard,
  serviceAddresses,
  endpointWriters,
]
