// Every admission rule. A new rule is one file in a folder here and one line below; the webhook, the policies and the generated YAML follow
// from the list.
import type { Rule } from '../rule.ts'
import { applicationCommit } from './kinds/application-commit.ts'
import { domainClaimWriters } from './kinds/domain-claim-writers.ts'
import { installationWriters } from './kinds/installation-writers.ts'
import { kindFinalizers } from './kinds/kind-finalizers.ts'
import { platformKinds } from './kinds/platform-kinds.ts'
import { requestedBy } from './kinds/requested-by.ts'
import { statusWriters } from './kinds/status-writers.ts'
import { tenantWriters } from './kinds/tenant-writers.ts'
import { namespaceGuard } from './metadata/namespace-guard.ts'
import { reservedMetadata } from './metadata/reserved-metadata.ts'
import { endpointWriters } from './network/endpoint-writers.ts'
import { ingressContent, ingressWriters } from './network/ingress-writers.ts'
import { serviceAddresses } from './network/service-addresses.ts'
import { podPlacement } from './pods/pod-placement.ts'
import { platformConfiguration } from './secrets/platform-configuration.ts'
import { reservedSecrets } from './secrets/reserved-secrets.ts'
import { secretKinds } from './secrets/secret-kinds.ts'
import {
  registryReferences,
  registryReferencesElsewhere,
  secretReferences,
  secretReferencesElsewhere,
} from './secrets/secret-references.ts'

/** The order decides which refusal is reported when several rules refuse. */
export const rules: readonly Rule[] = [
  installationWriters,
  tenantWriters,
  domainClaimWriters,
  platformKinds,
  statusWriters,
  kindFinalizers,
  applicationCommit,
  requestedBy,
  reservedSecrets,
  secretKinds,
  secretReferences,
  secretReferencesElsewhere,
  registryReferences,
  registryReferencesElsewhere,
  platformConfiguration,
  namespaceGuard,
  reservedMetadata,
  serviceAddresses,
  endpointWriters,
  ingressWriters,
  ingressContent,
  podPlacement,
]
