// The one table of (identity, request, expected): sent to the real API server with the policies alone, the webhook alone, and both. Every
// request is a dry run, so that rows neither depend on nor disturb each other; the objects that they act on are in fixtures.ts.

import { ingressRows } from './rows/ingress-rows.ts'
import { installationRows } from './rows/installation-rows.ts'
import { kindRows } from './rows/kind-rows.ts'
import { metadataRows } from './rows/metadata-rows.ts'
import { namespaceRows } from './rows/namespace-rows.ts'
import { podRows } from './rows/pod-rows.ts'
import { laterRows, referenceRows } from './rows/reference-rows.ts'
import { requestRows } from './rows/requester-rows.ts'
import type { Row } from './rows/row.ts'
import { secretRows } from './rows/secret-rows.ts'
import { networkRows } from './rows/service-rows.ts'
import { tenantRows } from './rows/tenant-rows.ts'

export const matrix: readonly Row[] = [
  ...installationRows,
  ...tenantRows,
  ...requestRows,
  ...secretRows,
  ...referenceRows,
  ...laterRows,
  ...namespaceRows,
  ...networkRows,
  ...ingressRows,
  ...kindRows,
  ...metadataRows,
  ...podRows,
]
