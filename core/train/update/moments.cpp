// SPDX-License-Identifier: Apache-2.0
// ShardedUpdate: moments on their way to a checkpoint, of which no rank ever has all.
#include "core/train/update/sharded_update.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace dts::train {
namespace {

constexpr std::size_t k_piece_floats = 1 << 20;

// A part of a moment that one rank owns.
struct Owned {
  int rank = 0;
  Range floats;
  std::size_t place = 0;  // where it begins among all that this rank owns of the moment
};

// All of a moment, in order.
std::vector<Owned> owned_parts(const Ownership& ownership) {
  std::vector<Owned> parts;
  std::vector<std::size_t> places(static_cast<std::size_t>(ownership.ranks()));
  for (int bucket = 0; bucket < ownership.buckets(); ++bucket) {
    const std::vector<Span> slices = ownership.slices(bucket);
    for (int rank = 0; rank < ownership.ranks(); ++rank) {
      const Span slice = slices[static_cast<std::size_t>(rank)];
      const Range floats{static_cast<std::size_t>(slice.lo), static_cast<std::size_t>(slice.hi)};
      std::size_t& place = places[static_cast<std::size_t>(rank)];
      if (floats.size() > 0) parts.push_back({rank, floats, place});
      place += floats.size();
    }
  }
  return parts;
}

struct Piece {
  std::size_t moment = 0;
  Range floats;
  bool wanted = false;       // by this rank
  Group::Ticket ticket = 0;  // of the last message from or to this rank
};

std::vector<Piece> pieces_of(const Layout& layout, int rank, const ShardedUpdate::Wants& wants) {
  const std::size_t end = layout.parameter_floats;
  std::vector<Piece> pieces;
  for (std::size_t moment = 0; moment < layout.moments.size(); ++moment)
    for (std::size_t at = 0; at < end; at += k_piece_floats) {
      const Range floats{at, std::min(at + k_piece_floats, end)};
      pieces.push_back({moment, floats, wants(rank, moment, floats)});
    }
  return pieces;
}

// Sends what this rank owns of a piece to all that want it, and receives the rest if it does, too.
class Handing {
 public:
  // `own`: what this rank owns of a moment.
  using Own = std::function<const float*(std::size_t moment)>;

  Handing(Comm& comm, const Ownership& ownership, Own own, const ShardedUpdate::Wants& wants)
      : comm_(comm), parts_(owned_parts(ownership)), own_(std::move(own)), wants_(wants) {}

  // `room` [k_piece_floats] gets the piece once its ticket is done; nullptr unless it is wanted.
  void post(Piece& piece, float* room) {
    auto part = std::partition_point(parts_.begin(), parts_.end(), [&](const Owned& one) {
      return one.floats.end <= piece.floats.begin;
    });
    for (; part != parts_.end() && part->floats.begin < piece.floats.end; ++part) {
      const Range floats{std::max(part->floats.begin, piece.floats.begin),
                         std::min(part->floats.end, piece.floats.end)};
      float* const to = room == nullptr ? nullptr : room + (floats.begin - piece.floats.begin);
      if (part->rank == comm_.rank())
        send(piece, *part, floats, to);
      else if (to != nullptr)
        piece.ticket = comm_.post_receive(part->rank, to, floats.size() * sizeof(float));
    }
  }

 private:
  void send(Piece& piece, const Owned& part, Range floats, float* to) {
    const float* const values =
        own_(piece.moment) + part.place + (floats.begin - part.floats.begin);
    if (to != nullptr) std::copy_n(values, floats.size(), to);
    for (int rank = 0; rank < comm_.size(); ++rank)
      if (rank != comm_.rank() && wants_(rank, piece.moment, piece.floats))
        piece.ticket = comm_.post_send(rank, values, floats.size() * sizeof(float));
  }

  Comm& comm_;
  std::vector<Owned> parts_;
  Own own_;
  const ShardedUpdate::Wants& wants_;
};

}  // namespace

void ShardedUpdate::hand_out_moments(const Wants& wants, const Take& take) {
  Handing handing(
      comm_,
      ownership_,
      [this](std::size_t moment) { return momentum_.data() + moment * own_floats_; },
      wants);
  std::vector<Piece> pieces = pieces_of(layout_, comm_.rank(), wants);
  std::array<Buffer, 2> rooms;  // one piece comes while another is taken
  const auto room_of = [&](std::size_t index) {
    Buffer& room = rooms[index % rooms.size()];
    if (pieces[index].wanted && room.size() == 0) room = Buffer(k_piece_floats);
    return pieces[index].wanted ? room.data() : nullptr;
  };
  if (!pieces.empty()) handing.post(pieces.front(), room_of(0));
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    if (index + 1 < pieces.size()) handing.post(pieces[index + 1], room_of(index + 1));
    const Piece& piece = pieces[index];
    comm_.wait(piece.ticket);
    if (piece.wanted) take(piece.moment, piece.floats, room_of(index));
  }
}

}  // namespace dts::train
