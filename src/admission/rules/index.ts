// Every admission rule, one a line. A new rule is one file here and one line below; the webhook, the policies and the generated YAML
// follow from it.
import type { Rule } from '../rule.ts'
import { installationWriters } from './installation-writers.ts'
import { namespaceGuard } from './namespace-guard.ts'
import { requestedBy } from './requested-by.ts'
import { reservedSecrets } from './reserved-secrets.ts'
import { secretKinds } from './secret-kinds.ts'
import { secretReferences, secretReferencesElsewhere } from './secret-references.ts'
import { tenantWriters } from './tenant-writers.ts'

export const rules: readonly Rule[] = [
  installationWriters,
  tenantWriters,
  requestedBy,
  reservedSecrets,
  secretKinds,
  secretReferences,
  secretReferencesElsewhere,
  namespaceGuard,
]
