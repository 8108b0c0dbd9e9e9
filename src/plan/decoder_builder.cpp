// Builds the Plan of a decoder from its model.
#include <cmath>

#include "src/plan/plan.h"

namespace inlay {
namespace {

class DecoderBuilder {
 public:
  DecoderBuilder(const Model& model, Plan& plan) : model_(model), plan_(plan) {}

  void build() {
    add(OpKind::embed, 0, {{slot::embed_table, WeightRole::token_embd}});
    for (int32_t layer = 0; layer < plan_.spec.n_layers; ++layer) add_layer(layer);
    const WeightRole head = plan_.spec.tied_embeddings ? WeightRole::token_embd : WeightRole::output;
    add(OpKind::head, 0, {{slot::norm, WeightRole::output_norm}, {slot::head, head}});
    add(OpKind::sample, 0, {});
  }

 private:
  struct Use {
    size_t slot;
    WeightRole role;
  };

  void add_layer(int32_t layer) {
    add(OpKind::attn_in, layer,
        {{slot::norm, WeightRole::attn_norm},
         {slot::q, WeightRole::attn_q},
         {slot::k, WeightRole::attn_k},
         {slot::v, WeightRole::attn_v},
         {slot::q_bias, WeightRole::attn_q_bias},
         {slot::k_bias, WeightRole::attn_k_bias},
         {slot::v_bias, WeightRole::attn_v_bias},
         {slot::q_norm, WeightRole::attn_q_norm},
         {slot::k_norm, WeightRole::attn_k_norm}});
    add(OpKind::attention, layer, {{slot::sinks, WeightRole::attn_sinks}});
    add(OpKind::attn_out, layer,
        {{slot::projection, WeightRole::attn_output},
         {slot::bias, WeightRole::attn_output_bias},
         {slot::post_norm, WeightRole::attn_post_norm}});
    if (plan_.spec.has_experts(layer)) return add_experts(layer);
    add(OpKind::ffn_in, layer,
        {{slot::norm, WeightRole::ffn_norm},
         {slot::gate, WeightRole::ffn_gate},
         {slot::up, WeightRole::ffn_up},
         {slot::gate_bias, WeightRole::ffn_gate_bias},
         {slot::up_bias, WeightRole::ffn_up_bias}});
    add(OpKind::ffn_out, layer,
        {{slot::projection, WeightRole::ffn_down},
         {slot::bias, WeightRole::ffn_down_bias},
         {slot::post_norm, WeightRole::ffn_post_norm}});
  }

  void add_experts(int32_t layer) {
    add(OpKind::moe_route, layer,
        {{slot::norm, WeightRole::ffn_norm},
         {slot::router, WeightRole::router},
         {slot::router_bias, WeightRole::router_bias},
         {slot::shared_weight, WeightRole::shared_weight}});
    add(OpKind::moe_in, layer,
        {{slot::norm, WeightRole::ffn_norm},
         {slot::gate, WeightRole::experts_gate},
         {slot::up, WeightRole::experts_up},
         {slot::gate_bias, WeightRole::experts_gate_bias},
         {slot::up_bias, WeightRole::experts_up_bias},
         {slot::shared_gate, WeightRole::shared_gate},
         {slot::shared_up, WeightRole::shared_up}});
    add(OpKind::moe_out, layer,
        {{slot::projection, WeightRole::experts_down},
         {slot::bias, WeightRole::experts_down_bias},
         {slot::shared_projection, WeightRole::shared_down}});
  }

  void add(OpKind kind, int32_t layer, std::initializer_list<Use> uses) {
    Op op{.kind = kind, .layer = static_cast<uint16_t>(layer), .weights = {}};
    op.weights.fill(kNoWeight);
    for (const Use& use : uses) {
      const bool of_layer = kind != OpKind::embed && kind != OpKind::head;
      const Weight* w = model_.find(use.role, of_layer ? layer : kNoLayer);
      if (!w) continue;  // validate() knows which may be absent
      op.weights[use.slot] = static_cast<WeightIndex>(w - model_.weights().data());
    }
    plan_.ops.push_back(op);
  }

  const Model& model_;
  Plan& plan_;
};

}  // namespace

Result<Plan> build_plan(const Model& model, int32_t n_context) {
  if (model.weights().size() >= kNoWeight) {
    return error(Code::unsupported, "%zu weights are more than the %u that a plan can name", model.weights().size(), kNoWeight);
  }
  Plan plan;
  plan.spec = model.spec();
  if (plan.spec.attention_scale == 0) plan.spec.attention_scale = 1.0f / std::sqrt(static_cast<float>(plan.spec.d_head));
  for (const RopeSpec& rope : plan.spec.ropes) plan.ropes.push_back(make_rope_table(rope, n_context));
  plan.weights = model.weights();
  plan.kv = group_kv_layers(plan.spec);
  DecoderBuilder(model, plan).build();
  INLAY_TRY(validate(plan));
  return plan;
}

}  // namespace inlay
