/** What people keep: filter presets for one another, preferences for themselves. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { GivenName, Id, Input, Nullable, Timestamp } from '../common.ts';

/** Presets of one scope in one environment. */
export const MAX_PRESETS = 20;

export const PresetScope = Type.Enum(['pipeline_list', 'fleet_matrix']);
export type PresetScope = Static<typeof PresetScope>;

const FilterValue = Type.Union([
  Type.String({ maxLength: 1_000 }),
  Type.Number(),
  Type.Boolean(),
  Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }),
]);
/** Flat. As JSON it may have 4 KB. */
const Filters = Type.Record(
  Type.String({ pattern: worded('^.{1,100}$', 'must be 1 to 100 characters') }),
  FilterValue,
  {
    maxProperties: 50,
    additionalProperties: false,
  },
);

export const FilterPreset = Type.Object({
  id: Id,
  environmentId: Id,
  scope: PresetScope,
  name: Type.String(),
  filters: Filters,
  /** What a page begins with; one of a scope at most. */
  isDefault: Type.Boolean(),
  createdByName: Nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type FilterPreset = Static<typeof FilterPreset>;
/** By name. */
export const FilterPresetList = Type.Array(FilterPreset);

export const PresetsOfScope = Input({ environmentId: Id, scope: PresetScope });
export const CreateFilterPreset = Input({
  environmentId: Id,
  name: GivenName,
  scope: PresetScope,
  filters: Filters,
  isDefault: Type.Optional(Type.Boolean()),
});
export const UpdateFilterPreset = Input({
  environmentId: Id,
  id: Id,
  name: Type.Optional(GivenName),
  filters: Type.Optional(Filters),
});
export const FilterPresetId = Input({ environmentId: Id, id: Id });
export const SetDefaultPreset = Input({ environmentId: Id, id: Id, scope: PresetScope });

const PreferenceKey = Type.String({ minLength: 1, maxLength: 100 });
/** The value by the key. */
export const UserPreferences = Type.Record(Type.String(), Type.String());
export type UserPreferences = Static<typeof UserPreferences>;
export const SetUserPreference = Input({ key: PreferenceKey, value: Type.String({ maxLength: 500 }) });
export const UserPreference = Type.Object({ key: Type.String(), value: Type.String() });
export const UserPreferenceKey = Input({ key: PreferenceKey });
