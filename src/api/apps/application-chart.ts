// ApplicationChart: the cdk8s chart that turns an Application into objects. Built into the product, or a ConfigMap of the platform namespace.

import { defineKind, type ObjectOf } from '../kind.ts'
import { dnsLabel } from '../schema/fields.ts'
import { exactlyOneOf, integer, object, optional, text } from '../schema/schema.ts'

export const applicationChart = defineKind({
  group: 'apps',
  kind: 'ApplicationChart',
  plural: 'applicationcharts',
  shortNames: ['achart'],
  scope: 'Cluster',
  description: 'Turns an Application into Kubernetes objects. Written by platform admins.',
  spec: object(
    {
      builtIn: optional(text({ description: 'The name of a chart that the product contains: web.', max: 63, pattern: dnsLabel })),
      configMap: optional(
        object(
          {
            name: text({ description: 'A ConfigMap in the platform namespace.', max: 253 }),
            key: text({ description: 'The key that holds the module.', max: 253, default: 'chart.js' }),
          },
          { description: 'Where the chart’s source is: a JavaScript module that exports `chart`.' },
        ),
      ),
      timeoutSeconds: integer({ description: 'How long one rendering may take.', min: 1, max: 30, default: 5 }),
    },
    {
      description: 'Where the chart is.',
      rules: [exactlyOneOf(['builtIn', 'configMap'], 'set exactly one of builtIn, configMap')],
    },
  ),
  status: {
    revision: optional(text({ description: 'A hash of the source that is in use.', max: 80 })),
  },
  columns: [
    { name: 'Built in', type: 'string', jsonPath: '.spec.builtIn' },
    { name: 'ConfigMap', type: 'string', jsonPath: '.spec.configMap.name' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

export type ApplicationChart = ObjectOf<typeof applicationChart>

export const applicationChartReasons = {
  loaded: 'Loaded',
  unknownBuiltIn: 'UnknownBuiltInChart',
  configMapMissing: 'ConfigMapMissing',
  doesNotLoad: 'ChartDoesNotLoad',
} as const
